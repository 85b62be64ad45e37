import { existsSync } from 'node:fs'
import { loadSettings } from '../infra/config.ts'
import { connectDatabase } from '../infra/mongo/connect.ts'
import { createOutbound } from '../infra/outbound/create-outbound.ts'
import { createAssistants } from '../services/assistants/index.ts'
import { createCompatAccounts } from '../services/assistants/compat-accounts.ts'
import { createSecretBox } from '../services/secrets.ts'

/**
 * The last step of changing `SECRETS_KEY`: encrypts every stored key again under the new one, so that
 * `SECRETS_KEY_PREVIOUS` can be emptied. Run it with both set, beside the running service.
 */
if (existsSync('.env')) process.loadEnvFile('.env')

const settings = loadSettings(process.env)
const { collections, transaction, close } = await connectDatabase(settings.mongodbUri)
const outbound = createOutbound(settings)
try {
  const accounts = createCompatAccounts({
    collections,
    assistants: createAssistants({ collections, transaction }),
    outbound,
    secretBox: createSecretBox(settings.secretsKey, settings.secretsKeyPrevious),
  })
  console.log(`${await accounts.reseal()} stored keys were encrypted again under the current SECRETS_KEY`)
} finally {
  await outbound.close()
  await close()
}
