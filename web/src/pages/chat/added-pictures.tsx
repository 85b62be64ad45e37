import { X } from 'lucide-react'
import { type Picture, putPictures } from '../../lib/pictures.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'

/** The pictures that go with the next message. */
export default function AddedPictures({ chat, pictures }: { chat: string; pictures: readonly Picture[] }) {
  return (
    <ul className="attachments">
      {pictures.map(({ key, name, url }) => (
        <li key={key} className="added-picture">
          <img src={url} alt={name} />
          <IconButton
            label={texts.knowledge.dismiss(name)}
            icon={<X size={14} />}
            onClick={() =>
              putPictures(
                chat,
                pictures.filter((one) => one.key !== key),
              )
            }
          />
        </li>
      ))}
    </ul>
  )
}
