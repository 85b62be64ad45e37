import type { Attributes } from '@opentelemetry/api'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ChatFacts, ChatResult, ToolFacts, TracedRun } from '../../services/tracing.ts'

/**
 * Names of the OpenTelemetry semantic conventions for generative AI (`gen_ai.*`). The `langsmith.*`
 * names make a run of ours a run of LangSmith under the same id, so that feedback finds it.
 */
const shared = (run: TracedRun): Attributes => ({
  'gen_ai.conversation.id': run.thread_id,
  'gen_ai.agent.id': run.assistant_id,
  'assistant_platform.run.id': run._id,
})

export function runAttributes(run: RunRecord): Attributes {
  return {
    ...shared(run),
    'gen_ai.operation.name': 'invoke_agent',
    'user.id': run.user_id,
    'assistant_platform.project.id': run.project_id,
    'assistant_platform.run.status': run.status,
    'assistant_platform.run.public': run.public,
    'langsmith.trace.id': run._id,
    'langsmith.span.id': run._id,
    'langsmith.span.kind': 'chain',
    ...(run.usage
      ? {
          'gen_ai.usage.input_tokens': run.usage.prompt_tokens,
          'gen_ai.usage.output_tokens': run.usage.completion_tokens,
        }
      : {}),
    ...(run.error ? { 'error.type': run.error.type } : {}),
  }
}

export function chatAttributes(run: TracedRun, { model, step, temperature, maxTokens }: ChatFacts): Attributes {
  return {
    ...shared(run),
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': model,
    'assistant_platform.run.step': step,
    'langsmith.trace.id': run._id,
    'langsmith.span.kind': 'llm',
    ...(temperature === undefined ? {} : { 'gen_ai.request.temperature': temperature }),
    ...(maxTokens === undefined ? {} : { 'gen_ai.request.max_tokens': maxTokens }),
  }
}

export function chatResultAttributes({ model, usage, finishReason }: ChatResult): Attributes {
  return {
    'gen_ai.response.model': model,
    'gen_ai.response.finish_reasons': [finishReason],
    ...(usage
      ? { 'gen_ai.usage.input_tokens': usage.prompt_tokens, 'gen_ai.usage.output_tokens': usage.completion_tokens }
      : {}),
  }
}

export function toolAttributes(run: TracedRun, { name, type, callId, step }: ToolFacts): Attributes {
  return {
    ...shared(run),
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': callId,
    'gen_ai.tool.type': type === 'retrieval' ? 'datastore' : 'extension',
    'assistant_platform.run.step': step,
    'langsmith.trace.id': run._id,
    'langsmith.span.kind': 'tool',
  }
}
