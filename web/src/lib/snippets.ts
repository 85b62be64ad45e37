import type { Schemas } from './api.ts'

interface Target {
  baseUrl: string
  assistantId: string
  token: string | undefined
  /** The operator's own name and colour for the chat bubble; without them it has its own. */
  product?: { name: string | null; color: string | null } | undefined
  bubble?: Bubble
}

/** How the chat bubble looks and speaks; what is empty is as the bubble has it by itself. */
export interface Bubble {
  look: NonNullable<Schemas['AssistantConfig']['type==agent/chat_look']>
  starters: string[]
}

/** The attributes of the bubble's script tag, without `data-`. */
export function bubbleAttributes({ assistantId, token, product, bubble }: Omit<Target, 'baseUrl'>) {
  const { title, greeting, color, theme, language } = bubble?.look ?? {}
  return {
    assistant: assistantId,
    token,
    title: title || product?.name,
    greeting,
    color: color !== undefined && /^#[\da-f]{6}$/i.test(color) ? color : product?.color,
    theme,
    language,
    starters: bubble?.starters.map((starter) => starter.replaceAll('|', '/')).join('|'),
  }
}

interface Snippet {
  name: 'curl' | 'node' | 'python' | 'embed'
  text: string
}

/**
 * Programs that call a public assistant, ready to run. Without a token they use the native stream, because only it
 * selects assistants by id.
 */
export function snippetsOf({ baseUrl, ...bubble }: Target): Snippet[] {
  const { assistantId, token } = bubble
  const native = JSON.stringify({ assistant_id: assistantId, input: [{ type: 'human', content: 'Hello!' }] })
  const lines = Object.entries(bubbleAttributes(bubble)).flatMap(([name, value]) =>
    value ? [`  data-${name}="${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`] : [],
  )
  const embed = `${[`<script src="${baseUrl}/embed.js" async`, ...lines].join('\n')}></script>`
  if (token === undefined)
    return [
      {
        name: 'curl',
        text: `curl -N ${baseUrl}/public/runs/stream \\\n  -H 'content-type: application/json' \\\n  -d '${native}'`,
      },
      {
        name: 'node',
        text: `const response = await fetch('${baseUrl}/public/runs/stream', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(${native}),
})
for await (const text of response.body.pipeThrough(new TextDecoderStream())) process.stdout.write(text)`,
      },
      {
        name: 'python',
        text: `import json, urllib.request

request = urllib.request.Request(
    "${baseUrl}/public/runs/stream",
    data=json.dumps(${native}).encode(),
    headers={"content-type": "application/json"},
)
for line in urllib.request.urlopen(request):
    print(line.decode(), end="")`,
      },
      { name: 'embed', text: embed },
    ]
  const url = `${baseUrl}/public/compat/v1`
  return [
    {
      name: 'curl',
      text: `curl ${url}/chat/completions \\
  -H 'authorization: Bearer ${token}' \\
  -H 'content-type: application/json' \\
  -d '{"model": "assistant", "messages": [{"role": "user", "content": "Hello!"}]}'`,
    },
    {
      name: 'node',
      text: `// npm install openai
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${url}', apiKey: '${token}' })
const stream = await client.chat.completions.create({
  model: 'assistant',
  messages: [{ role: 'user', content: 'Hello!' }],
  stream: true,
})
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '')`,
    },
    {
      name: 'python',
      text: `# pip install openai
from openai import OpenAI

client = OpenAI(base_url="${url}", api_key="${token}")
stream = client.chat.completions.create(
    model="assistant",
    messages=[{"role": "user", "content": "Hello!"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`,
    },
    { name: 'embed', text: embed },
  ]
}
