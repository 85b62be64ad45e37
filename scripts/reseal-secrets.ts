import { abilitiesOf, listedPriceOf } from '../infra/model/known-models.ts'
import { connectDatabase } from '../infra/mongo/connect.ts'
import { createOutbound } from '../infra/outbound/create-outbound.ts'
import { runProgram } from '../infra/program.ts'
import { createCompatAccounts } from '../services/assistants/compat-accounts.ts'
import { createAssistantConfigs } from '../services/assistants/configs.ts'
import { createAssistants } from '../services/assistants/index.ts'
import { resealConfigs } from '../services/assistants/stored-configs.ts'
import { createMcpLogins } from '../services/mcp-logins/index.ts'
import { createLiveModels } from '../services/models/live-models.ts'
import { createModelSettings } from '../services/models/model-settings.ts'
import { createSecretBox, createTokenHashes } from '../services/secrets.ts'

/**
 * The last step of changing `SECRETS_KEY`: encrypts every stored key and configuration again under the
 * new one, so that `SECRETS_KEY_PREVIOUS` can be emptied. Run it with both set, beside the running service.
 */
await runProgram(async (settings) => {
  const database = await connectDatabase(settings.mongodbUri, { tls: settings.mongodbTls })
  const { collections, transaction } = database
  const outbound = createOutbound(settings)
  try {
    const secretBox = createSecretBox(settings.secretsKey, settings.secretsKeyPrevious)
    const tokenHashes = createTokenHashes(settings.secretsKey, settings.secretsKeyPrevious)
    const configs = createAssistantConfigs(secretBox, tokenHashes)
    const assistants = createAssistants({ collections, transaction, configs })
    const accounts = createCompatAccounts({ collections, assistants, outbound, secretBox })
    const models = createLiveModels({ collections, secretBox, environment: settings.models, onError: console.error })
    const facts = { abilitiesOf, listedPriceOf, learntOf: () => [] }
    const modelSettings = createModelSettings({ collections, secretBox, models, facts })
    console.log(`${await accounts.reseal()} stored keys were encrypted again under the current SECRETS_KEY`)
    const mcpLogins = createMcpLogins({ collections, assistants, outbound, secretBox, redirectUri: '' })
    console.log(`${await mcpLogins.reseal()} logins at MCP servers were encrypted again under the current SECRETS_KEY`)
    console.log(
      `${await modelSettings.reseal()} keys of model servers were encrypted again under the current SECRETS_KEY`,
    )
    console.log(
      `${await resealConfigs({ collections, configs })} configurations were encrypted again under the current SECRETS_KEY`,
    )
  } finally {
    await outbound.close()
    await database.close()
  }
})
