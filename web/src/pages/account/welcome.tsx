import { BookOpenText, MessagesSquare, ShieldCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { productName } from '../../lib/product.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'

const icons = [BookOpenText, ShieldCheck, MessagesSquare]

/** The frame of all pages without an account: an introduction beside a form. */
export function Welcome({ title, text, children }: { title: string; text?: ReactNode; children: ReactNode }) {
  useTitle(title)
  const { headline, points, openSource, apiPages } = texts.welcome
  return (
    <div className="welcome">
      <header className="welcome-side">
        <div className="brand">
          <img src="/icon.svg" alt="" />
          {productName}
        </div>
        <div>
          <p className="welcome-headline">{headline}</p>
          <ul className="welcome-points">
            {points.map((point, place) => {
              const Icon = icons[place] ?? MessagesSquare
              return (
                <li key={point}>
                  <Icon size={20} aria-hidden="true" />
                  {point}
                </li>
              )
            })}
          </ul>
        </div>
        <div className="welcome-foot small">
          {openSource} <a href="/docs">{apiPages}</a>
        </div>
      </header>
      <main className="welcome-form">
        <div>
          <div className="stack-small">
            <h1>{title}</h1>
            {text && <div className="muted">{text}</div>}
          </div>
          {children}
        </div>
      </main>
    </div>
  )
}
