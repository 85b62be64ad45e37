import type english from '../texts/en/sentences.json'
import { load } from '../texts/load.ts'
import { fill } from '../texts/read.ts'
import { locale } from './language.ts'

const texts = await load(import.meta.glob<typeof english>('../texts/*/sentences.json', { import: 'default' }))

/** Sentences of the service that people meet, by how they begin. What the group found is the `value` of the text. */
const sentences: [RegExp, keyof typeof english][] = [
  [/^The e-mail address or the password is wrong/, 'loginWrong'],
  [/^This e-mail address is not verified/, 'addressNotVerified'],
  [/^This e-mail address is already verified/, 'addressVerified'],
  [/^An account with this e-mail address already exists/, 'accountExists'],
  [/^There is no account with this e-mail address/, 'noAccount'],
  [/^The current password is wrong/, 'currentPasswordWrong'],
  [/^Too many wrong passwords/, 'tooManyPasswords'],
  [/^The code is wrong; attempts left: (\d+)/, 'codeWrong'],
  [/^The code is wrong and is no longer valid/, 'codeUsedUp'],
  [/^The code is invalid or has expired/, 'codeInvalid'],
  [/^A code was sent within the last minute; try again in (\d+)/, 'codeJustSent'],
  [/^The link is invalid, was used, or has expired/, 'linkUsed'],
  [/^This link is not valid/, 'linkInvalid'],
  [/^The confirmation is not this account's/, 'notOwnAddress'],
  [/^The password was changed at the same time/, 'passwordChanging'],
  [/^This account has no password/, 'noPassword'],
  [/^This account is suspended/, 'suspended'],
  [/^This account is being deleted/, 'accountDeleting'],
  [/^This account no longer exists/, 'accountGone'],
  [/^Too many requests; try again in (\d+)/, 'tooManyRequests'],
  [/^You have as many chats/, 'tooManyChats'],
  [/^You already have a project with this name/, 'projectNameTaken'],
  [/^A project's name has 1 to (\d+)/, 'projectNameLength'],
  [/^Others use these projects, and only you are their owner: (.+?)\. Say with/, 'ownedProjects'],
  [/^Only your own lasting chats/, 'ownLastingChats'],
  [/^Its maker does not use the project any more/, 'makerLeft'],
  [/^This group uses the project already/, 'groupMember'],
  [/^Addresses of this domain have no password here: log in with (.+)\.$/, 'domainLogin'],
  [/^This person uses the project already/, 'personMember'],
  [/^You use this project already/, 'youMember'],
  [/^This is the last owner of the project/, 'lastOwner'],
  [/^The account of this owner holds the project/, 'holder'],
  [/^A project has at most (\d+) members/, 'tooManyMembers'],
  [/^There is no such member/, 'noMember'],
  [/^This invitation was used or revoked/, 'invitationGone'],
  [/^This invitation is for another address/, 'invitationOther'],
  [/^Your role in this project is/, 'roleTooLow'],
  [/^The project of this token is not available/, 'projectClosed'],
  [/^This project belongs to another user/, 'projectForeign'],
  [/^There is no such assistant|^The assistant was deleted/, 'noAssistant'],
  [/^There is no such project/, 'noProject'],
  [/^There is no such (?:thread|chat)/, 'noChat'],
  [/^There is no such file/, 'noFile'],
  [/^There is no such message/, 'noMessage'],
  [/^There is no such schedule/, 'noSchedule'],
  [/^There is no such fact/, 'noFact'],
  [/^There is no such prompt/, 'noPrompt'],
  [/^There is no such folder/, 'noFolder'],
  [/^There is already a fact with this text/, 'factKnown'],
  [/^(?:The memory of this assistant is full|An account has at most (\d+) facts)/, 'memoryFull'],
  [/^An account has at most (\d+) prompts/, 'tooManyPrompts'],
  [/^An account has at most (\d+) folders/, 'tooManyFolders'],
  [/^A folder has at most (\d+) files/, 'tooManyFolderFiles'],
  [/^This account has (\d+) schedules/, 'tooManySchedules'],
  [/^This account has (\d+) sources/, 'tooManySources'],
  [/^Another run is under way|^The run of this message is still under way/, 'answerUnderWay'],
  [/^The thread was changed at the same time/, 'chatChanged'],
  [/^This run does not wait for/, 'decided'],
  [/^This assistant has no usable tool of this name/, 'noTool'],
  [/^Too many tools are tried at once/, 'tooManyTrials'],
  [/^This tool may not reach the host (\S+?)\.?$/, 'hostForbidden'],
  [/^No (?:mail server|model) is configured/, 'notConfigured'],
  [/^You already have a plan that allows as much/, 'planEnough'],
  [/^A payment of yours is under way/, 'paymentUnderWay'],
  [/^The payment failed/, 'paymentFailed'],
  [/^The payment provider cannot be reached/, 'paymentUnreachable'],
  [/^The vector store does not answer|^The files cannot be searched/, 'filesNotSearched'],
  [/^An archive may have at most (\d+) MB/, 'archiveTooLarge'],
  [/^The upload/, 'uploadBroken'],
  [/^The answer does not belong to a login/, 'mcpNotBegun'],
  [/^The MCP server names no server where one can log in/, 'mcpNoLogin'],
  [/^The MCP server has a login server at which programs cannot register/, 'mcpUnregistered'],
  [/^The MCP server (?:names a login server|has a login server|asks for a login to another|sends people)/, 'mcpUnfit'],
  [/^The login server of the MCP server refuses: (\w+)/, 'mcpRefused'],
  [/^The login server of the MCP server does not answer/, 'mcpSilent'],
  [/^The login has expired or was used already/, 'mcpOver'],
]

/** A sentence of the service in the language of the page, if there are words for it. */
export function translated(sentence: string): string | undefined {
  for (const [words, text] of sentences) {
    const found = words.exec(sentence)
    if (found) return fill(texts[text], { value: found[1] ?? '' }, locale)
  }
  return undefined
}
