import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { ToolSetting } from '../../domain/assistant-config.ts'

/** The settings of the tool `retrieval`, named as those of `file_search` in the assistants API. */
export const RetrievalConfig = Type.Object(
  {
    max_num_results: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 50,
        title: 'Most passages',
        description: 'Passages that a search gives the model at most.',
      }),
    ),
    ranking_options: Type.Optional(
      Type.Object(
        {
          ranker: Type.Optional(
            Type.String({ maxLength: 64, title: 'Ranker', description: 'Has no effect: there is one.' }),
          ),
          score_threshold: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 1,
              title: 'Lowest score',
              description: 'Passages with a lower score are left out.',
            }),
          ),
        },
        { additionalProperties: false, title: 'Ranking' },
      ),
    ),
  },
  { additionalProperties: false },
)
type RetrievalConfig = Static<typeof RetrievalConfig>

/** The settings of the tool in an assistant's configuration; a config of another form counts as empty. */
export function retrievalConfigOf(tools: ToolSetting[]): RetrievalConfig {
  const config: unknown = tools.find(({ type }) => type === 'retrieval')?.config ?? {}
  return Value.Check(RetrievalConfig, config) ? config : {}
}
