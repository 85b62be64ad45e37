import { useMutation } from '@tanstack/react-query'
import { remotePicture } from '../../lib/message-pictures.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'

const t = texts.chat.pictures

/**
 * A picture of another site. It is loaded only when the reader asks for it, because its address, which the model wrote,
 * can carry words of the conversation to that site.
 */
export default function RemotePicture({ url, alt, host }: { url: string; alt: string; host: string }) {
  const picture = useMutation({ mutationFn: () => remotePicture(url) })
  if (picture.data !== undefined) return <img className="remote-picture" src={picture.data} alt={alt} />
  return (
    <span className="remote-picture-offer">
      <span>
        {t.from(host)}
        {alt !== '' && ` · ${alt}`}
      </span>
      <Button size="small" disabled={picture.isPending} onClick={() => picture.mutate()}>
        {t.show}
      </Button>
      {picture.isError && (
        <span className="muted small" role="alert">
          {t.notLoaded}{' '}
          <a href={url} target="_blank" rel="noreferrer noopener">
            {t.open}
          </a>
        </span>
      )}
    </span>
  )
}
