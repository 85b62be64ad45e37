import { AppError } from '../../domain/errors.ts'
import { parseOwnJson } from '../../domain/json.ts'
import type { FeedbackRecord } from '../../domain/records/feedback.ts'
import type { FeedbackReceiver } from '../../services/feedback/index.ts'

interface LangSmithSettings {
  langsmithEndpoint?: string | undefined
  langsmithApiKey?: string | undefined
}

const timeoutMs = 15_000

/** Whether the settings name a tracing service for feedback. */
export function hasLangSmith({ langsmithEndpoint, langsmithApiKey }: LangSmithSettings): boolean {
  return langsmithEndpoint !== undefined || langsmithApiKey !== undefined
}

/**
 * Sends feedback to LangSmith, or to a compatible server: `POST {endpoint}/feedback` (docs.langchain.com/langsmith,
 * Create Feedback).
 */
export function createLangSmithReceiver({ langsmithEndpoint, langsmithApiKey }: LangSmithSettings): FeedbackReceiver {
  const url = `${langsmithEndpoint ?? 'https://api.smith.langchain.com'}/feedback`
  return {
    async deliver(feedback) {
      const response = await send(url, langsmithApiKey, bodyOf(feedback))
      await response.body?.cancel()
      // 409: an earlier attempt has delivered this id.
      if (response.ok || response.status === 409) return
      const forGood = response.status < 500 && ![408, 425, 429].includes(response.status)
      throw new AppError(
        forGood ? 'bad_request' : 'upstream_failed',
        `The tracing service answered ${response.status}.`,
      )
    },
  }
}

async function send(url: string, apiKey: string | undefined, body: object): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    })
  } catch (cause) {
    throw new AppError('upstream_failed', 'The tracing service cannot be reached.', { cause })
  }
}

function bodyOf({ _id, run_id, key, score, value_json: json, comment, created_at }: FeedbackRecord) {
  const { value } = json === undefined ? {} : parseOwnJson<{ value?: unknown }>(json)
  return {
    id: _id,
    run_id,
    // The root span of a run has the run's id as its trace id: see infra/tracing.
    trace_id: run_id,
    key,
    score: score ?? null,
    value: value ?? null,
    comment: comment ?? null,
    created_at: created_at.toISOString(),
    feedback_source: { type: 'api' },
  }
}
