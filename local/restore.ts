import { loadData } from './data-backup/load.ts'
import { asCommand, backupSettings } from './data-backup/settings.ts'

/** `npm run restore -- FOLDER`: docs/operations/back-up-npm-start.md. */
await asCommand(async () => {
  const settings = backupSettings('restore')
  const before = await loadData({ ...settings, log: (line) => console.log(`> ${line}`) })
  console.log(`Restored into ${settings.dataDir}. Run npm start.`)
  if (before !== undefined) console.log(`The data from before is in ${before}; delete it when you do not need it.`)
})
