import type english from './en/folders.json'
import { loadTexts } from './load.ts'

/** The texts of folders of chats in the language of the page. */
export const folderMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/folders.json', { import: 'default' }),
  {
    created: ['name'],
    editTitle: ['name'],
    remove: ['name'],
    deleteText: ['name'],
    moved: ['chat', 'folder'],
    movedHere: ['folder'],
    inFolder: ['name'],
    ofFolder: ['name'],
  },
)
