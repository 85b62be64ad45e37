import { Link } from '@tanstack/react-router'
import { CircleAlert, Compass } from 'lucide-react'
import { texts } from '../texts/index.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/states.tsx'

export function NotFound() {
  const { title, text, home } = texts.notFound
  return (
    <main className="page page-narrow">
      <Empty icon={<Compass size={32} aria-hidden="true" />} title={title} text={text}>
        <Link to="/" className="button button-primary">
          {home}
        </Link>
      </Empty>
    </main>
  )
}

/** Shown when a part of the console failed, for example because an update removed its old files. */
export function Crashed() {
  return (
    <div className="page page-narrow">
      <Empty icon={<CircleAlert size={32} aria-hidden="true" />} title={texts.crashed} text={texts.crashedText}>
        <Button look="primary" onClick={() => window.location.reload()}>
          {texts.reload}
        </Button>
      </Empty>
    </div>
  )
}
