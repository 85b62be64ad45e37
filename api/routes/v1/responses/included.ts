import Type from 'typebox'

const one = Type.String({ maxLength: 64 })

/** What an answer may show in addition: of what is named there, results of searches. Clients send lists as `include[]`. */
export const IncludeQuery = {
  include: Type.Optional(Type.Union([one, Type.Array(one, { maxItems: 20 })])),
  'include[]': Type.Optional(Type.Union([one, Type.Array(one, { maxItems: 20 })])),
}

export function includedIn(requested: { include?: string | string[]; 'include[]'?: string | string[] }) {
  const names = [requested.include ?? [], requested['include[]'] ?? []].flat()
  return {
    results: names.includes('file_search_call.results') || names.includes('web_search_call.results'),
    sources: names.includes('web_search_call.action.sources'),
    logprobs: names.includes('message.output_text.logprobs'),
    reasoning: names.includes('reasoning.encrypted_content'),
    outputs: names.includes('code_interpreter_call.outputs'),
  }
}
