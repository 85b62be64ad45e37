import type english from './en/people.json'
import { loadTexts } from './load.ts'

/** The texts of the pages of people and invitations in the language of the page. */
export const peopleMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/people.json', { import: 'default' }),
  {
    title: ['project'],
    whose: ['owner', 'role'],
    sent: ['address'],
    since: ['day'],
    roleOf: ['name'],
    roleChanged: ['name', 'role'],
    ownRoleText: ['role'],
    remove: ['name'],
    removeTitle: ['name'],
    removeText: ['name'],
    removed: ['name'],
    groups: {
      added: ['name', 'role'],
      nameless: ['end'],
      removeText: ['name'],
      roleTitle: ['name'],
      roleText: ['role'],
    },
    expires: ['when'],
    resendOf: ['address'],
    resent: ['address'],
    revokeOf: ['address'],
    threadsOf: { keep: ['name'] },
    ownThreads: { handOver: ['owner'] },
    give: ['name'],
    giveTitle: ['name'],
    giveText: ['name'],
    given: ['name'],
    leaveTitle: ['project'],
    left: ['project'],
    invitation: {
      offer: ['owner', 'project'],
      yourRole: ['role'],
      expires: ['when'],
      as: ['account'],
      joined: ['project'],
      memberText: ['project', 'role'],
      otherText: ['account'],
    },
  },
)
