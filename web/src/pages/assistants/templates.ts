import { type Schemas, configKey } from '../../lib/api.ts'
import { startMessages } from '../../texts/starts.ts'

const { templates: words } = startMessages

export interface Template {
  name: string
  text: string
  instructions: string
  starters: string[]
  temperature?: number
  /** Tools that it is given if this service is set up for them; it works without them too. */
  tools?: Schemas['ToolSetting'][]
}

/** What a new assistant can begin with. The search of its files comes with the first file. */
export const templates: Template[] = [
  { ...words.documents, temperature: 0.2 },
  words.support,
  { ...words.minutes, temperature: 0.2 },
  { ...words.translator, temperature: 0.2 },
  { ...words.sql, temperature: 0.2 },
  words.tutor,
  { ...words.researcher, tools: [{ type: 'web_search' }] },
  words.shop,
]

/** The configuration of an assistant with these instructions, made from the template. */
export function configOf(
  template: Template | undefined,
  instructions: string,
  isAvailable: (tool: Schemas['ToolSetting']) => boolean,
): Schemas['AssistantConfig'] {
  const tools = template?.tools?.filter(isAvailable) ?? []
  return {
    ...(template && { [configKey.description]: template.text, [configKey.starters]: template.starters }),
    ...(instructions.trim() !== '' && { [configKey.systemMessage]: instructions }),
    ...(template?.temperature !== undefined && { [configKey.temperature]: template.temperature }),
    ...(tools.length > 0 && { [configKey.tools]: tools }),
  }
}
