import { texts } from '../texts/index.ts'
import { type Message, type Thread, api, unwrap } from './api.ts'
import { withDigits } from './exact-numbers.ts'
import { toolTitle } from './tool-title.ts'

const t = texts.chat

/** A chat as Markdown: who said what, and which tools were called. */
export function chatMarkdown(name: string, messages: readonly Message[], omitted = 0): string {
  const parts = messages.flatMap((message): string[] => {
    switch (message.type) {
      case 'HumanMessage':
        return [`## ${t.you}`, message.data.content || `(${t.pictures.title})`]
      case 'AIMessage': {
        const { content, refusal = '', tool_calls: calls = [] } = message.data
        const said = content === '' ? refusal : content
        return [
          ...(said === '' ? [] : [`## ${t.assistant}`, said]),
          ...calls.map(
            (call) =>
              `> ${toolTitle(call.name)}: \`${withDigits(JSON.stringify(call.args)).slice(0, 500).replaceAll('`', "'")}\``,
          ),
        ]
      }
      default:
        return []
    }
  })
  return [`# ${name}`, ...(omitted > 0 ? [t.older(omitted)] : []), ...parts, ''].join('\n\n')
}

/** Saves the newest version of a chat. */
export async function downloadChat({ thread_id: tid, name }: Thread): Promise<void> {
  const state = await unwrap(api.GET('/threads/{tid}/state', { params: { path: { tid } } }))
  const title = name || t.untitled
  const text = chatMarkdown(title, state.values.messages ?? [], state.metadata.omitted_messages)
  const url = URL.createObjectURL(new Blob([text], { type: 'text/markdown' }))
  const link = document.createElement('a')
  link.href = url
  // Names of files have no such characters on some systems.
  link.download = `${title.replaceAll(/[\\/:*?"<>|\p{Cc}]+/gu, ' ').trim() || 'chat'}.md`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
