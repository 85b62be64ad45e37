import { reasonOf } from '../domain/reason-of.ts'
import { createLangSmithReceiver, hasLangSmith } from '../infra/feedback/langsmith.ts'
import { defaultBaseUrl } from '../infra/model/guarded-fetch.ts'
import { createModelByKind, createRoutedModel } from '../infra/model/routed-model.ts'
import { createSchemaChecker } from '../infra/schema-checks/schema-checker.ts'
import { createCompatAccounts } from '../services/assistants/compat-accounts.ts'
import { createFeedback } from '../services/feedback/index.ts'
import { createInsights } from '../services/insights/index.ts'
import { createModelList } from '../services/models/list-models.ts'
import { createPublicFamily } from '../services/public/index.ts'
import { createStoredKilobytes } from '../services/public/stored-kilobytes.ts'
import { createRuns } from '../services/runs/index.ts'
import { createLiveRuns } from '../services/runs/live-runs.ts'
import { createProviderMetadataBox } from '../services/runs/provider-metadata.ts'
import type { StepDeps } from '../services/runs/step-deps.ts'
import { createStepSlots } from '../services/runs/step-slots.ts'
import { createSteps } from '../services/runs/steps.ts'
import { createSuggestions } from '../services/runs/suggestions/index.ts'
import { createToolCalls } from '../services/runs/tool-calls.ts'
import { createToolsOfRun } from '../services/runs/tools-of-run.ts'
import { createRunUpkeep } from '../services/runs/upkeep.ts'
import { createSemaphore } from '../services/semaphore.ts'
import { createDescribeAssistant } from '../services/tools/describe-assistant.ts'
import { createTryTool } from '../services/tools/execute-tool.ts'
import type { Core } from './core.ts'

/** Runs: starting, following and deciding about them (API), and their steps and clean-ups (worker). */
export function composeRuns(core: Core) {
  const { settings, infra, collections, transaction, assistants } = core
  // One check at a time; users take turns.
  const schemaChecker = createSchemaChecker(createSemaphore({ slots: 1, waitingPerOwner: 1000 }))
  const stepDeps = composeSteps(core, schemaChecker)
  const steps = createSteps(stepDeps, createStepSlots(core, settings.modelStepsAtOnce))
  const runs = createRuns({ ...stepDeps, ...core, steps })
  const toolCalls = createToolCalls({ ...stepDeps, ...core, runs })
  return {
    schemaChecker,
    listModels: createModelList(core),
    runs,
    stepDeps,
    steps: { ...steps, ...toolCalls },
    suggestions: createSuggestions(stepDeps),
    runUpkeep: createRunUpkeep({ ...stepDeps, ...core }),
    tryTool: createTryTool({ ...core, checkForeignArguments: schemaChecker.check }),
    describeAssistant: createDescribeAssistant(core),
    compatAccounts: createCompatAccounts({
      collections,
      assistants,
      outbound: infra.outbound,
      secretBox: core.secretBox,
    }),
    publicFamily: createPublicFamily({
      ...core,
      runs,
      storeKilobytes: createStoredKilobytes(core.rateCounter, settings),
    }),
    feedback: createFeedback({
      collections,
      transaction,
      runs,
      workflows: core.workflows,
      hasReceiver: hasLangSmith(settings),
    }),
    insights: createInsights(core),
    feedbackReceiver: createLangSmithReceiver(settings),
  }
}

function composeSteps(core: Core, schemaChecker: ReturnType<typeof createSchemaChecker>): StepDeps {
  const { settings, infra, logger } = core
  return {
    ...core,
    liveRuns: createLiveRuns({ taskTimeoutMs: settings.runTaskTimeoutSeconds * 1000 }),
    model: createRoutedModel({
      chat: createModelByKind({
        ownFetch: infra.outbound.ownFetch,
        guardedFetch: infra.outbound.fetchWith({ maxRedirects: 0 }),
        silenceMs: settings.modelSilenceSeconds * 1000,
        dialects: core.dialects,
      }),
      models: core.models,
      onFallback: (from, to, failure) =>
        logger.warn(
          { model: from.id, provider: from.provider, type: failure.type, cause: failure.details, next: to.provider },
          'a model failed before it answered; the next one is asked',
        ),
    }),
    providerMetadata: createProviderMetadataBox(core.secretBox),
    countTokens: infra.tokenCounter.count,
    checkForeignArguments: schemaChecker.check,
    toolsOf: createToolsOfRun({
      ...core,
      onToolProblem: (assistant, problem) =>
        logger.warn({ assistant_id: assistant._id, ...problem }, 'a tool cannot be used'),
    }),
    onModelFailure(run, account, failure) {
      const facts = {
        run_id: run._id,
        trace_id: run.traceparent?.split('-')[1],
        assistant_id: run.assistant_id,
        host: new URL(account?.baseUrl ?? defaultBaseUrl).host,
        status: failure.statusCode,
        type: failure.type,
        retryable: failure.retryable,
        // The details contain what the model server said, without keys.
        cause: failure.details || reasonOf(failure.cause),
      }
      logger.warn(facts, `the model failed: ${failure.message}`)
    },
  }
}
