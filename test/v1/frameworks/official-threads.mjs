// What one major version of the official client for Node sees of threads and runs, as one JSON object.
const { default: OpenAI, toFile } = await import(process.env.CLIENT)
const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: process.env.KEY })
// Version 4 takes the ids of a path in its order.
const isOld = process.env.CLIENT === 'openai-4'
const { threads, assistants } = client.beta
const poll = { pollIntervalMs: 50 }
const seen = {}

const assistant = await assistants.create({
  model: process.env.MODEL,
  tools: [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'The weather of a city',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    },
  ],
})
const thread = await threads.create({ messages: [{ role: 'user', content: 'The weather in Paris?' }] })
const waiting = await threads.runs.createAndPoll(thread.id, { assistant_id: assistant.id }, poll)
const [call] = waiting.required_action.submit_tool_outputs.tool_calls
seen.waiting = [waiting.status, call.function.name, JSON.parse(call.function.arguments)]
const outputs = { tool_outputs: [{ tool_call_id: call.id, output: 'sunny' }] }
const done = isOld
  ? await threads.runs.submitToolOutputsAndPoll(thread.id, waiting.id, outputs, poll)
  : await threads.runs.submitToolOutputsAndPoll(waiting.id, { thread_id: thread.id, ...outputs }, poll)
seen.done = done.status

await threads.messages.create(thread.id, { role: 'user', content: 'And now?' })
const first = threads.runs.stream(thread.id, { assistant_id: assistant.id })
const stopped = await first.finalRun()
const [again] = stopped.required_action.submit_tool_outputs.tool_calls
const [{ step_details: told }] = await first.finalRunSteps()
seen.told = [told.tool_calls[0].id === again.id, told.tool_calls[0].function.arguments]
const more = { tool_outputs: [{ tool_call_id: again.id, output: 'rainy' }] }
const second = isOld
  ? threads.runs.submitToolOutputsStream(thread.id, stopped.id, more)
  : threads.runs.submitToolOutputsStream(stopped.id, { thread_id: thread.id, ...more })
let text = ''
second.on('textDelta', ({ value }) => (text += value ?? ''))
seen.streamed = [stopped.status, (await second.finalRun()).status, text]

seen.said = []
for await (const { role, content } of threads.messages.list(thread.id, { order: 'asc', limit: 2 }))
  seen.said.push(`${role}: ${content[0].text.value}`)
const steps = isOld
  ? await threads.runs.steps.list(thread.id, done.id, { order: 'asc' })
  : await threads.runs.steps.list(done.id, { thread_id: thread.id, order: 'asc' })
seen.steps = steps.data.map(({ type }) => type)
const file = await client.files.create({
  file: await toFile(Buffer.from('Open until five.'), 'a.txt'),
  purpose: 'assistants',
})
const asked = await threads.create({
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Until when?' },
        { type: 'image_url', image_url: { url: process.env.PICTURE } },
      ],
      attachments: [{ file_id: file.id, tools: [{ type: 'file_search' }] }],
    },
  ],
})
const [shown] = (await threads.messages.list(asked.id)).data
seen.attached = [
  shown.content.map(({ type }) => type),
  shown.attachments.map(({ file_id: id, tools }) => [id === file.id, tools[0].type]),
  asked.tool_resources.file_search.vector_store_ids.length,
]
seen.deleted = (await (isOld ? threads.del(thread.id) : threads.delete(thread.id))).deleted
console.log(JSON.stringify(seen))
