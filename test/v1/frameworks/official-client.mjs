// What one major version of the official client for Node sees, as one JSON object: only an address and a key are given
// to it. `CLIENT` names the package.
const { default: OpenAI, toFile } = await import(process.env.CLIENT)
const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: process.env.KEY })
// Versions before 5 name it `del`, and take the ids of a path in its order.
const isOld = process.env.CLIENT === 'openai-4'
const remove = (resource, id) => (isOld ? resource.del(id) : resource.delete(id))
const seen = {}

const file = await client.files.create({
  file: await toFile(Buffer.from('Open until five.'), 'a.txt'),
  purpose: 'assistants',
})
seen.content = await (await client.files.content(file.id)).text()
const store = await client.vectorStores.create({ name: 'Papers' })
const added = await client.vectorStores.files.createAndPoll(store.id, { file_id: file.id }, { pollIntervalMs: 200 })
seen.file = [file.object, added.object, added.status]
const found = await client.vectorStores.search(store.id, { query: 'Until when is it open?' })
seen.found = found.data.map(({ filename }) => filename)

const assistant = await client.beta.assistants.create({
  model: process.env.MODEL,
  name: 'Helper',
  instructions: 'Be brief.',
  tools: [{ type: 'file_search' }],
  tool_resources: { file_search: { vector_store_ids: [store.id] } },
})
const changed = await client.beta.assistants.update(assistant.id, { metadata: { team: 'blue' } })
seen.assistant = [changed.object, changed.name, changed.metadata]
seen.listed = []
for await (const { name } of client.beta.assistants.list({ limit: 1 })) seen.listed.push(name)

seen.refused = await client.beta.assistants
  .create({ model: 'm', tools: [{ type: 'image_generation' }] })
  .catch((error) => [error.constructor.name, error.status, error.param, error.code])
seen.deleted = []
for (const [resource, { id }] of [
  [client.beta.assistants, assistant],
  [client.vectorStores, store],
  [client.files, file],
])
  seen.deleted.push((await remove(resource, id)).deleted)
console.log(JSON.stringify(seen))
