import { Link } from '@tanstack/react-router'
import { Brain } from 'lucide-react'
import { useTitle } from '../lib/use-title.ts'
import { texts } from '../texts/index.ts'
import { Empty } from '../ui/states.tsx'

const t = texts.connectModel

/** Where the first login leads while only the demo model answers. */
export function ConnectModel() {
  useTitle(t.title)
  return (
    <div className="page">
      <h1 className="visually-hidden">{t.title}</h1>
      <Empty icon={<Brain size={32} aria-hidden="true" />} title={t.title} text={t.text}>
        <p className="small">{t.token}</p>
        <div className="row">
          <a className="button button-primary" href="/admin/#models">
            {t.open}
          </a>
          <Link className="button" to="/console/chat">
            {t.later}
          </Link>
        </div>
      </Empty>
    </div>
  )
}
