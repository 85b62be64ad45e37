import type { ModelFailure } from '../../domain/model-failure.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { BudgetCounting } from '../budgets/counting.ts'
import type { Collections } from '../collections.ts'
import type { ModelsNow } from '../models/live-models.ts'
import type { Conversations } from '../threads/conversations.ts'
import type { ThreadLog } from '../threads/log.ts'
import type { CheckForeignArguments } from '../tools/check-arguments.ts'
import type { RunTracing } from '../tracing.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { ChatModel, CountTokens, ModelAccount } from './chat-model.ts'
import type { LiveRuns } from './live-runs.ts'
import type { ProviderMetadataBox } from './provider-metadata.ts'
import type { RunStream } from './run-stream.ts'
import type { ToolsOfRun } from './tools-of-run.ts'

/** What the steps of a run depend on. */
export interface StepDeps {
  budgetCounting: Pick<BudgetCounting, 'recordCost' | 'finalizeStored' | 'addLate' | 'areSpent'>
  collections: Pick<Collections, 'runs' | 'threads' | 'assistants' | 'checkpoints' | 'toolCalls' | 'attachments'>
  /** The runs of this process. */
  liveRuns: LiveRuns
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf'>
  log: ThreadLog
  conversations: Conversations
  workflows: Pick<WorkflowClient, 'signal'>
  stream: RunStream
  model: ChatModel
  providerMetadata: ProviderMetadataBox
  models: ModelsNow
  /** The account that pays for the assistant's runs; undefined if no model is configured. */
  accountOf(assistant: AssistantRecord): ModelAccount | undefined
  /** The current tools of an assistant, and those that the client of the run brings. */
  toolsOf: ToolsOfRun
  /** The context window of a model in tokens, question and answer together. */
  contextWindowOf(model: string): number
  countTokens: CountTokens
  checkForeignArguments: CheckForeignArguments
  tracing: RunTracing
  onError(error: unknown): void
  /** Logs for the operator that a model server did not answer. */
  onModelFailure(run: RunRecord, account: ModelAccount | undefined, failure: ModelFailure): void
}
