import { Link } from '@tanstack/react-router'
import { MessageSquare } from 'lucide-react'
import { type Assistant, configKey } from '../../lib/api.ts'
import { useMembership } from '../../lib/membership.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { Face } from '../../ui/face.tsx'
import { RoleNote } from '../../ui/role-note.tsx'
import { KnowledgeTab } from './knowledge-tab.tsx'

const t = texts.assistants

/** An assistant for those who may not change it: what it is for, what one can begin with, and what it knows. */
export function AssistantReader({ assistant }: { assistant: Assistant }) {
  const { assistant_id: aid, name, config } = assistant
  const { may } = useMembership()
  useTitle(name)
  const starters = config[configKey.starters] ?? []
  return (
    <div className="page">
      <header className="page-head">
        <div className="page-name">
          <Face name={name} size={36} />
          <h1 className="grow truncate" title={name}>
            {name}
          </h1>
        </div>
        {may('member') && (
          <Link to="/console/chat" search={{ assistant: aid }} className="button button-primary">
            <MessageSquare size={16} aria-hidden="true" />
            {t.chat}
          </Link>
        )}
      </header>
      <RoleNote needed="editor" />
      <section className="card stack-small">
        <h2>{texts.description}</h2>
        <p>{config[configKey.description] || t.noneText}</p>
        {starters.length > 0 && (
          <ul>
            {starters.map((starter, place) => (
              <li key={place}>{starter}</li>
            ))}
          </ul>
        )}
      </section>
      <section className="stack" aria-label={t.tabs.knowledge}>
        <h2>{t.tabs.knowledge}</h2>
        <KnowledgeTab assistantId={aid} />
      </section>
    </div>
  )
}
