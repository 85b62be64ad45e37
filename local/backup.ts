import { saveData } from './data-backup/save.ts'
import { asCommand, backupSettings } from './data-backup/settings.ts'

/** `npm run backup -- FOLDER`: docs/operations/back-up-npm-start.md. */
await asCommand(async () => {
  const settings = backupSettings('backup')
  const { files, secrets_elsewhere: elsewhere } = await saveData({
    ...settings,
    log: (line) => console.log(`> ${line}`),
  })
  const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0)
  console.log(`Saved ${Object.keys(files).length} files (${(bytes / 1e6).toFixed(1)} MB) in ${settings.folder}`)
  console.log('The secrets of the service are among them: whoever can read the backup can read all data.')
  if (elsewhere.length > 0) console.log(`Set in the environment, so not in the backup: ${elsewhere.join(', ')}`)
})
