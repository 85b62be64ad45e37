import './web-cards.css'
import { Globe } from 'lucide-react'
import type { WebPage } from '../../../lib/web-pages.ts'
import { texts } from '../../../texts/index.ts'

/** The pages of the web that an answer may rest on, each with the name of its site. Nothing of them is loaded. */
export default function WebCards({ pages }: { pages: WebPage[] }) {
  return (
    <ul className="web-cards" aria-label={texts.chat.sources}>
      {pages.map(({ url, title, site, text }) => (
        <li key={url}>
          <a className="web-card" href={url} target="_blank" rel="noopener noreferrer nofollow" title={url}>
            <span className="web-card-site">
              <Globe size={13} aria-hidden="true" />
              <span className="truncate">{site}</span>
            </span>
            <strong className="web-card-title" dir="auto">
              {title || site}
            </strong>
            {text && (
              <span className="web-card-text" dir="auto">
                {text}
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  )
}
