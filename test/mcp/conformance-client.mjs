/** Has a response call the tools of the MCP server whose address is the last argument; the conformance tests start it. */
const { BASE_URL, KEY } = process.env
const server = {
  type: 'mcp',
  server_label: 'conformance',
  // The service may call addresses, not names of this machine.
  server_url: process.argv.at(-1).replace('localhost', '127.0.0.1'),
  require_approval: 'never',
}
const answer = await fetch(`${BASE_URL}/responses`, {
  method: 'POST',
  headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'scripted', input: 'Add 5 and 3.', tools: [server] }),
})
const response = await answer.json()
console.log(JSON.stringify(response.output ?? response))
process.exitCode = response.status === 'completed' ? 0 : 1
