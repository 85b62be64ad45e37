import { objectFromJsonText, parseOwnJson, toJsonText } from '../../domain/json.ts'
import { maskSecrets } from '../../domain/mask-secrets.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { ModelsNow } from '../models/live-models.ts'
import type { Tools } from './index.ts'

/** The model account that a run would use, of which the answer says only whose it is. */
interface Account {
  setByUser: boolean
}

interface DescribeDeps {
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf' | 'textOf'>
  tools: Pick<Tools, 'resolve'>
  accountOf(assistant: AssistantRecord): Account | undefined
  models: ModelsNow
}

/**
 * The assistant's configuration as its owner wrote it, with secrets masked, and what a run would use: the settings
 * with defaults, the model, and the tools as the model is offered them. `resolved` lists each member explicitly, so
 * that it cannot contain a secret of the configuration (tokens, headers, keys).
 */
export function createDescribeAssistant({ assistantConfigs, tools, accountOf, models }: DescribeDeps) {
  return async (assistant: AssistantRecord, signal: AbortSignal) => {
    const settings = assistantConfigs.settingsOf(assistant)
    const account = accountOf(assistant)
    const resolved = await tools.resolve(assistant, signal, { acting: { person: 'owner', origin: 'chat' } })
    return {
      assistant_id: assistant._id,
      name: assistant.name,
      config: maskedConfig(assistantConfigs.textOf(assistant)),
      resolved: {
        access_mode: settings.accessMode,
        has_public_token: settings.publicToken !== undefined,
        model: settings.model ?? models.current().defaultModel,
        system_message: settings.systemMessage,
        temperature: settings.temperature ?? null,
        retrieval_description: settings.retrievalDescription,
        max_steps: settings.maxSteps,
        interrupt_before_action: settings.interruptBeforeAction,
        allowed_origins: settings.allowedOrigins,
        description: settings.description,
      },
      model_account: payerOf(account),
      tools: resolved.tools.map(({ type, name, description, parameters }) => ({
        type,
        name,
        description,
        parameters: { ...parameters },
      })),
      tool_problems: resolved.problems,
      tool_warnings: resolved.warnings,
    }
  }
}

/** Masked before number signs are restored, because the objects that keep them are not plain data. */
function maskedConfig(configJson: string): Record<string, unknown> {
  return objectFromJsonText(toJsonText(maskSecrets(parseOwnJson(configJson))))
}

function payerOf(account: Account | undefined): 'none' | 'assistant' | 'platform' {
  if (account === undefined) return 'none'
  return account.setByUser ? 'assistant' : 'platform'
}
