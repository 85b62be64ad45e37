import { newId } from '../../domain/ids.ts'
import { conversation } from '../runs/support.ts'
import type { ModelService } from '../support/model-service.ts'
import type { ChatRequest, ScriptedReply } from '../support/scripted-model.ts'

export const systemOf = ({ body: { messages } }: ChatRequest) => messages.find(({ role }) => role === 'system')?.content

/** A tool with which an assistant may ask these. */
export const asking = (...ids: string[]) => ({
  'type==agent/tools': [{ type: 'assistant', config: { assistant_ids: ids } }],
})

/** A call that asks one or several assistants. */
export const asks = (...names: string[]): ScriptedReply => ({
  toolCalls: names.map((name) => ({
    id: newId(),
    name: 'assistant',
    arguments: { assistant: name, question: `What does ${name} know?` },
  })),
})

/** A user whose assistants answer by a script of their own each: the model knows them by their system messages. */
export async function team(
  service: Pick<ModelService, 'model'> & Parameters<typeof conversation>[0],
  config: object = {},
) {
  const own = newId()
  const talk = await conversation(service, { 'type==agent/system_message': `I am the chief of ${own}.`, ...config })
  const { client, assistantId } = talk
  const systemMessage = (name: string) => `I am ${name} of ${own}.`
  return {
    ...talk,
    systemMessage,
    /** Another assistant of the project. */
    async member(name: string, more: object = {}): Promise<string> {
      const config = { 'type==agent/system_message': systemMessage(name), ...more }
      return (await client.post('/assistants/', { name, config })).assistant_id
    },
    /** Changes the configuration of the assistant that is talked to. */
    configure: (more: object, id: string = assistantId, name = 'Helper', label = 'the chief') =>
      client.put(`/assistants/${id}`, {
        name,
        config: { 'type==agent/system_message': systemMessage(label), ...more },
      }),
    /** What the model says in the name of an assistant, next. */
    says: (name: string, reply: ScriptedReply) =>
      service.model.reply({ ...reply, when: (request) => systemOf(request) === systemMessage(name) }),
    /** What the model was last told in the name of an assistant. */
    told: (name: string): string[] =>
      (service.model.requests.findLast((request) => systemOf(request) === systemMessage(name))?.body.messages ?? [])
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => String(content)),
  }
}
