import { setTimeout as pause } from 'node:timers/promises'
import { readText, startHttpServer } from '../test/support/http-server.ts'
import { startMailServer } from '../test/support/mail-server.ts'
import { type ChatRequest, type ScriptedReply, startScriptedModel } from '../test/support/scripted-model.ts'
import { startTcpProxy } from '../test/support/tcp-proxy.ts'

const millisecondsPerWord = 40

/** The client's message and the model's expected answer, both made from the intention's id. */
export const prompts = {
  say: (id: string, words: number) => `[${id}] say ${words}`,
  callTools: (id: string, calls: number) => `[${id}] call ${calls}`,
  /** The text of the run's last answer. */
  answer: (id: string, words: number) =>
    `Answer ${id}:${Array.from({ length: words }, (_, index) => ` word${index}`).join('')}.`,
  answerAfterTools: (id: string) => `Done ${id}.`,
}

export interface RecordedCall {
  /** The id of the intention that caused it, and the number of the call within it. */
  id: string
  at: number
}

/**
 * The servers that the service depends on and that are not its own: a model, a server that tools call, and a mail
 * receiver. Each records every call, and stands behind a proxy that can be disturbed. `publish` makes an address one that
 * the service can reach; without it the service is on this machine.
 */
export async function startStandIns(publish = async (address: string) => address) {
  const modelCalls: RecordedCall[] = []
  const effects: RecordedCall[] = []
  let toolsUrl = ''

  const model = await startScriptedModel({
    respond: (request) => {
      const asked = questionOf(request)
      modelCalls.push({ id: asked.id, at: Date.now() })
      // The requests themselves would fill the memory in a long run.
      model.requests.length = 0
      return replyTo(asked, toolsUrl)
    },
  })
  const tools = await startHttpServer(async (request, response) => {
    await readText(request)
    effects.push({ id: (request.url ?? '').replace('/effect/', ''), at: Date.now() })
    await pause(50 + (effects.length % 5) * 60)
    response.end(`done ${request.url}`)
  })
  const mail = await startMailServer()
  const host = (url: string) => new URL(url).host
  const proxies = {
    model: await startTcpProxy(host(model.url)),
    tools: await startTcpProxy(host(tools.url)),
    mail: await startTcpProxy(host(mail.url)),
  }
  const addresses = {
    model: await publish(proxies.model.address),
    tools: await publish(proxies.tools.address),
    mail: await publish(proxies.mail.address),
  }
  toolsUrl = `http://${addresses.tools}`

  return {
    modelCalls,
    effects,
    mails: mail.mails,
    proxies,
    env: {
      OPENAI_BASE_URL: `http://${addresses.model}/v1`,
      OPENAI_API_KEY: 'none',
      DEFAULT_MODEL: 'scripted',
      EMBEDDING_DIMENSIONS: '64',
      OUTBOUND_ALLOW: new URL(toolsUrl).hostname,
      SMTP_URL: `smtp://${addresses.mail}`,
    },
    async close() {
      for (const proxy of Object.values(proxies)) await proxy.close()
      await Promise.all([model.close(), tools.close(), mail.close()])
    },
  }
}

interface Question {
  id: string
  verb: string
  count: number
  /** The request contains the results of the tools. */
  hasResults: boolean
}

/** The last message of a person, and whether tool results follow it. */
function questionOf({ body }: ChatRequest): Question {
  const last = body.messages.findLastIndex(({ role }) => role === 'user')
  const text = JSON.stringify(body.messages[last]?.content ?? '')
  const [, id = 'unknown', verb = 'say', count = '1'] = /\[(i\d+x)\] (say|call) (\d+)/.exec(text) ?? []
  return { id, verb, count: Number(count), hasResults: body.messages.slice(last).some(({ role }) => role === 'tool') }
}

function replyTo({ id, verb, count, hasResults }: Question, toolsUrl: string): ScriptedReply {
  if (verb === 'say') return { text: inPieces(prompts.answer(id, count)) }
  if (hasResults) return { text: inPieces(prompts.answerAfterTools(id)) }
  return {
    toolCalls: Array.from({ length: count }, (_, index) => ({
      id: `call_${index}`,
      name: 'http_request',
      arguments: { method: 'POST', url: `${toolsUrl}/effect/${id}.${index}`, body: 'once' },
    })),
  }
}

function inPieces(text: string): (string | Promise<unknown>)[] {
  return text.split(/(?= )/).flatMap((piece, index) => [pause(index * millisecondsPerWord), piece])
}
