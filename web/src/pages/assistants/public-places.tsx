import { Tabs } from 'radix-ui'
import { configKey, useConsoleSettings } from '../../lib/api.ts'
import type { DraftState } from '../../lib/draft.ts'
import { snippetsOf } from '../../lib/snippets.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { CodeBlock, CopyButton } from '../../ui/code-block.tsx'
import { CheckField } from '../../ui/field.tsx'
import { LinesField } from '../../ui/lines-field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { TabList } from '../../ui/tab-list.tsx'

const t = assistantMessages.publish

interface PublicPlacesProps {
  assistantId: string
  state: DraftState
  token: string | undefined
}

/** Where a public assistant is found: its own page, the sites of its owner, programs. */
export function PublicPlaces({ assistantId, state: { draft, isChanged, setConfig }, token }: PublicPlacesProps) {
  const { config } = draft
  const product = useConsoleSettings()?.product
  const bubble = { look: config[configKey.chatLook] ?? {}, starters: config[configKey.starters] ?? [] }
  const snippets = snippetsOf({ baseUrl: window.location.origin, assistantId, token, product, bubble })
  const embed = snippets.find(({ name }) => name === 'embed')?.text ?? ''
  const programs = snippets.filter(({ name }) => name !== 'embed')
  const isPageOn = config[configKey.publicPage] ?? false
  const sites = config[configKey.origins] ?? []
  const address = `${window.location.origin}/a/${assistantId}${token === undefined ? '' : `#${token}`}`
  return (
    <section className="card form">
      <div className="spread">
        <h2>{t.where}</h2>
        {!isChanged && <span className="badge badge-ok">{t.published}</span>}
      </div>
      {isChanged && <Notice>{t.snippetsText}</Notice>}
      <div className="stack-small">
        <CheckField
          label={t.page}
          help={token === undefined ? t.pageHelp : t.pageTokenHelp}
          checked={isPageOn}
          onValue={(value) => setConfig(configKey.publicPage, value || undefined)}
        />
        {isPageOn && (
          <div className="row">
            <a href={address} target="_blank" rel="noreferrer" className="truncate">
              {address}
            </a>
            <CopyButton text={address} />
          </div>
        )}
      </div>
      <h3>{t.onSite}</h3>
      <LinesField
        label={t.origins}
        help={t.originsHelp}
        value={sites}
        onLines={(lines) => setConfig(configKey.origins, lines.length === 0 ? undefined : lines)}
      />
      <div className="stack-small snippet">
        {sites.length === 0 && <Notice tone="warn">{t.noSites}</Notice>}
        <p className="muted small">{t.onSiteText}</p>
        <CodeBlock text={embed} label={t.snippetNames.embed} />
      </div>
      <h3>{t.programs}</h3>
      <Tabs.Root defaultValue="curl">
        <TabList label={t.programs} tabs={programs.map(({ name }) => [name, t.snippetNames[name]])} />
        {programs.map(({ name, text }) => (
          <Tabs.Content key={name} value={name} className="snippet">
            <CodeBlock text={text} label={t.snippetNames[name]} />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </section>
  )
}
