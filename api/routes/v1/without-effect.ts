import type { WithoutEffect } from '../../plugins/given-members.ts'

const caching = 'the model server decides what it caches, and for how long'
const statistics = 'is for the statistics of the vendor'

const ofTools = {
  allowed_callers: 'the model is the only caller of tools',
  defer_loading: 'the model is given every tool at once',
  output_schema: 'describes results to code, which calls no tools here',
}

/**
 * Members of requests that are taken and change no answer, and why, by the title of their schema. A member that would
 * change the answer does not belong here: what is neither known nor listed is refused by its name.
 */
export const withoutEffect: WithoutEffect = {
  V1ResponseCreateRequest: {
    access_programs: 'asks for rights at the vendor, which no server here knows',
    client_metadata: statistics,
    image: 'says how pictures are made, and none are',
    prompt_cache_options: caching,
    prompt_cache_retention: caching,
  },
  V1ResponseCompactRequest: {
    client_metadata: statistics,
    prompt_cache_options: caching,
    prompt_cache_retention: caching,
  },
  V1InputTokensRequest: { client_metadata: statistics, prompt_cache_options: caching, prompt_cache_retention: caching },
  V1AskedReasoning: {
    context: 'says what of earlier reasoning the vendor’s models read; here they are given what the request brings',
  },
  V1ResponseStreamOptions: { include_usage: 'the last event always has the usage' },
  V1InnerTool: ofTools,
  V1NamespaceTool: ofTools,
  V1ResponseTool: {
    ...ofTools,
    return_token_budget: 'results have a size of their own',
    user_location: 'search services here are not told where somebody is',
    search_content_types: 'results are texts',
  },
  V1ChatCompletionRequest: {
    client_metadata: statistics,
    prompt_cache_options: caching,
    prompt_cache_retention: caching,
  },
}
