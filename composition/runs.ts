import { reasonOf } from '../domain/reason-of.ts'
import { createLangSmithReceiver, hasLangSmith } from '../infra/feedback/langsmith.ts'
import { createChatModel } from '../infra/model/chat.ts'
import { defaultBaseUrl } from '../infra/model/open-client.ts'
import { createRoutedModel } from '../infra/model/routed-model.ts'
import { createSchemaChecker } from '../infra/schema-checks/schema-checker.ts'
import { createCompatAccounts } from '../services/assistants/compat-accounts.ts'
import type { StepDeps } from '../services/runs/step-deps.ts'
import { settleLostRun } from '../services/runs/settle.ts'
import { createStepSlots } from '../services/runs/step-slots.ts'
import { createSteps } from '../services/runs/steps.ts'
import { createFeedback } from '../services/feedback/index.ts'
import { createModelList } from '../services/models.ts'
import { createPublicFamily } from '../services/public/index.ts'
import { createDecisions } from '../services/runs/decisions.ts'
import { createDescribeAssistant } from '../services/assistants/describe-assistant.ts'
import { createRuns } from '../services/runs/index.ts'
import { createRunSweep } from '../services/runs/sweep.ts'
import { createRunFeeds } from '../services/runs/run-feeds.ts'
import { createRunOutput } from '../services/runs/run-output.ts'
import { createRunSnapshots } from '../services/runs/run-snapshot.ts'
import { createPrepareRun } from '../services/runs/prepare-run.ts'
import { createStartFollowed } from '../services/runs/start-followed.ts'
import { createTryTool } from '../services/tools/try-tool.ts'
import { createSemaphore } from '../services/semaphore.ts'
import { windowOf } from './context-window.ts'
import type { Core } from './core.ts'

/** Runs: starting, following and deciding about them (API), and their steps and clean-ups (worker). */
export function composeRuns(core: Core) {
  const { settings, infra, collections, transaction, stream, threads, assistants, onError } = core
  // One check at a time; users take turns.
  const schemaChecker = createSchemaChecker(createSemaphore({ slots: 1, waitingPerOwner: 1000 }))
  const engine = composeEngine(core, schemaChecker)
  const steps = createSteps(engine, createStepSlots(core, settings.modelStepsAtOnce))
  const runs = createRuns({ ...core, steps })
  const runOutput = createRunOutput(core.scanLog)
  const runFeeds = createRunFeeds({ stream, snapshot: createRunSnapshots(collections, runOutput), onError })
  const startFollowed = createStartFollowed({ runs, runFeeds })
  const decisions = createDecisions(core)
  return {
    schemaChecker,
    listModels: createModelList({ ...settings, contextWindowOf: windowOf(settings) }),
    runs,
    runFeeds,
    resumeRun: decisions.resumeRun,
    sweepRuns: createRunSweep({ ...core, decisions, settle: (run, error) => settleLostRun(engine, run, error) }),
    prepareRun: createPrepareRun({ threads, assistants }),
    startFollowed,
    runOutput,
    engine,
    steps,
    tryTool: createTryTool({ tools: core.tools, checkForeignArguments: schemaChecker.check }),
    describeAssistant: createDescribeAssistant({ ...core, defaultModel: settings.defaultModel }),
    compatAccounts: createCompatAccounts({
      collections,
      assistants,
      outbound: infra.outbound,
      secretBox: core.secretBox,
    }),
    publicFamily: createPublicFamily({ ...core, runs, runFeeds, startFollowed }),
    feedback: createFeedback({
      collections,
      transaction,
      runs,
      workflows: core.workflows,
      hasReceiver: hasLangSmith(settings),
    }),
    feedbackReceiver: createLangSmithReceiver(settings),
  }
}

function composeEngine(core: Core, schemaChecker: ReturnType<typeof createSchemaChecker>): StepDeps {
  const { settings, infra, logger, tools } = core
  return {
    ...core,
    model: createRoutedModel({
      chat: createChatModel({
        ownFetch: infra.outbound.ownFetch,
        guardedFetch: infra.outbound.fetchWith({ maxRedirects: 0 }),
        silenceMs: settings.modelSilenceSeconds * 1000,
      }),
      providers: settings.providers,
      onFallback: (from, to, failure) =>
        logger.warn(
          { model: from.id, provider: from.provider, type: failure.type, cause: failure.details, next: to.provider },
          'a model failed before it answered; the next one is asked',
        ),
    }),
    defaultModel: settings.defaultModel,
    countTokens: infra.tokenCounter.count,
    checkForeignArguments: schemaChecker.check,
    contextWindowOf: windowOf(settings),
    async toolsOf(assistant, signal) {
      const resolved = await tools.resolve(assistant, signal)
      for (const problem of resolved.problems)
        logger.warn({ assistant_id: assistant._id, ...problem }, 'a tool cannot be used')
      return resolved.tools
    },
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
