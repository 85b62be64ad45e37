import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { HumanMessage } from '../../lib/conversation.ts'
import { picturesOf } from '../../lib/message-pictures.ts'
import { texts } from '../../texts/index.ts'
import { Dialog } from '../../ui/dialog.tsx'

const t = texts.chat.pictures

/** The pictures of a message; one is shown large when it is clicked. */
export default function MessagePictures({ message }: { message: HumanMessage }) {
  const { threadId } = useParams({ from: '/console/chat/$threadId' })
  const [large, setLarge] = useState<string>()
  const { data: urls, isError } = useQuery({
    queryKey: ['pictures', message.data.id],
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: () => picturesOf(threadId, message),
  })
  if (isError) return <p className="muted small">{t.gone}</p>
  return (
    <div className="message-pictures">
      {urls?.map((url, index) => (
        <button key={index} type="button" aria-label={t.enlarge(index + 1)} onClick={() => setLarge(url)}>
          <img src={url} alt={t.picture(index + 1)} />
        </button>
      ))}
      {large !== undefined && (
        <Dialog title={t.title} wide onClose={() => setLarge(undefined)}>
          <img className="large-picture" src={large} alt={t.title} />
        </Dialog>
      )}
    </div>
  )
}
