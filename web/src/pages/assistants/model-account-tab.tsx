import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError, orNull, queryClient, unwrap } from '../../lib/api.ts'
import { type ProviderKind, exampleUrls } from '../../lib/provider-kinds.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { KindField } from '../../ui/kind-field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loading } from '../../ui/states.tsx'

const t = assistantMessages.modelAccount

/** The account of a model provider that pays for the runs of a public assistant. */
export function ModelAccountTab({ assistantId }: { assistantId: string }) {
  const path = { params: { path: { aid: assistantId } } }
  const queryKey = ['model-account', assistantId]
  const account = useQuery({
    queryKey,
    queryFn: () => orNull(unwrap(api.GET('/assistants/{aid}/compat-account', path))),
  })
  const [chosenKind, setKind] = useState<ProviderKind>()
  const [key, setKey] = useState('')
  const [url, setUrl] = useState('')
  const kind = chosenKind ?? account.data?.kind ?? 'openai-compatible'
  const form = useSubmit(async () => {
    try {
      await unwrap(
        api.PUT('/assistants/{aid}/compat-account', { ...path, body: { kind, api_key: key, base_url: url } }),
      )
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) throw new Error(t.mustBePublic)
      throw error
    }
    setKey('')
    await queryClient.invalidateQueries({ queryKey })
    say(texts.saved)
  })
  const removal = useSubmit(async () => {
    await unwrap(api.DELETE('/assistants/{aid}/compat-account', path))
    await queryClient.invalidateQueries({ queryKey })
  })
  if (!account.isSuccess) return <Loading query={account} />
  return (
    <div className="stack">
      <p className="muted">{t.text}</p>
      {account.data && (
        <section className="card spread">
          <div>
            <h2>{t.current}</h2>
            <p className="small">
              <code>{account.data.api_key}</code> · {account.data.base_url}
            </p>
          </div>
          <Button look="danger" busy={removal.isBusy} onClick={() => void removal.submit()}>
            {t.remove}
          </Button>
        </section>
      )}
      <form className="card form" onSubmit={form.onSubmit}>
        <KindField label={texts.providerKind} value={kind} onValue={setKind} />
        <TextField
          label={t.key}
          help={t.keyHelp}
          type="password"
          autoComplete="off"
          required
          value={key}
          onValue={setKey}
        />
        <TextField label={t.url} help={t.urlHelp(exampleOf(kind))} type="url" required value={url} onValue={setUrl} />
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <div>
          <Button type="submit" look="primary" busy={form.isBusy}>
            {texts.save}
          </Button>
        </div>
      </form>
    </div>
  )
}

/** An account is at a provider, not on one's own machine. */
function exampleOf(kind: ProviderKind): string {
  return exampleUrls[kind === 'openai-compatible' ? 'openai-responses' : kind]
}
