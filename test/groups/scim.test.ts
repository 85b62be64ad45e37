import { describe, expect, it } from 'vitest'
import { tokenOf } from '../projects/joined.ts'
import { apiClient } from '../support/api-client.ts'
import { startModelService } from '../support/model-service.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser, newEmail } from '../support/users.ts'

const token = 'the-token-of-the-provisioning-system'
const patchOf = (...Operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
})

describe('provisioning by SCIM', () => {
  const service = useStarted(() =>
    startModelService({
      env: {
        SCIM_TOKEN: token,
        SCIM_PROVIDER: 'company',
        COMPANY_SECRET: 'the secret of the client',
        OAUTH_PROVIDERS: JSON.stringify([
          {
            id: 'company',
            name: 'Company',
            issuer: 'https://login.example.com',
            client_id: 'client',
            client_secret_env: 'COMPANY_SECRET',
            domains: ['example.com'],
          },
        ]),
      },
    }),
  )

  const scim = () => {
    const client = apiClient(`${service.url}/scim/v2`, token)
    return {
      ...client,
      send: (method: string, path: string, body: unknown) =>
        client.call(method, path, JSON.stringify(body), { 'content-type': 'application/scim+json' }),
    }
  }
  const newUser = async (facts: object = {}) => {
    const email = newEmail()
    const made = await scim().send('POST', '/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: email,
      name: { givenName: 'Ada', familyName: 'Lovelace' },
      emails: [{ value: email, type: 'work', primary: true }],
      active: true,
      ...facts,
    })
    expect(made).toMatchObject({ status: 201 })
    expect(made.headers.get('content-type')).toContain('application/scim+json')
    return { email, ...made.body }
  }

  it('needs its token, and tells errors as RFC 7644 says', async () => {
    for (const given of [undefined, 'wrong', service.env['ADMIN_TOKEN']])
      expect(await apiClient(service.url, given).call('GET', '/scim/v2/Users')).toMatchObject({
        status: 401,
        body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '401' },
      })
    expect(await scim().call('GET', '/Users/none')).toMatchObject({ status: 404, body: { status: '404' } })
    expect(await scim().call('GET', '/Users?filter=userName%20is%20%22a%22')).toMatchObject({
      status: 400,
      body: { scimType: 'invalidFilter', status: '400' },
    })
    expect(await scim().send('POST', '/Users', { emails: [] })).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    })
  })

  it.each([
    ['userName eq "{email}"'],
    ['userName Eq "{EMAIL}"'],
    ['emails.value eq "{email}"'],
    ['externalId eq "{external}" and active eq true'],
    ['id eq "{id}" or userName eq "nobody"'],
    ['not (userName ne "{email}")'],
  ])('finds a user by %s', async (filter) => {
    const external = newEmail()
    const user = await newUser({ externalId: external })
    const text = filter
      .replace('{email}', user.email)
      .replace('{EMAIL}', user.email.toUpperCase())
      .replace('{external}', external)
      .replace('{id}', user.id)
    const found = await scim().get(`/Users?filter=${encodeURIComponent(text)}`)
    expect(found).toMatchObject({ totalResults: 1, startIndex: 1, Resources: [{ id: user.id }] })
  })

  it('creates each user once, with an address of its own domain', async () => {
    const user = await newUser()
    expect(await scim().send('POST', '/Users', { userName: user.email.toUpperCase() })).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    })
    expect(await scim().send('POST', '/Users', { userName: 'someone@elsewhere.example' })).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    })
  })

  it('reaches no account with a password', async () => {
    const operator = await insertUser(service)
    expect(await scim().call('GET', `/Users/${operator.userId}`)).toMatchObject({ status: 404 })
    expect(await scim().send('POST', '/Users', { userName: operator.email })).toMatchObject({ status: 409 })
    const disable = patchOf({ op: 'replace', path: 'active', value: false })
    expect(await scim().send('PATCH', `/Users/${operator.userId}`, disable)).toMatchObject({ status: 404 })
    expect(
      await scim().send('POST', '/Groups', { displayName: newEmail(), members: [{ value: operator.userId }] }),
    ).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } })
  })

  it('reaches no account of the same issuer for whose address another provider speaks', async () => {
    const { userId } = await insertUser(service)
    await service.collections.users.updateOne(
      { _id: userId },
      {
        $set: {
          provider: 'social',
          subject: `https://login.example.com|${userId}`,
          email: `${userId}@elsewhere.example`,
        },
      },
    )
    expect(await scim().call('GET', `/Users/${userId}`)).toMatchObject({ status: 404 })
    expect(await scim().call('DELETE', `/Users/${userId}`)).toMatchObject({ status: 404 })
    expect(
      await scim().send('POST', '/Groups', { displayName: newEmail(), members: [{ value: userId }] }),
    ).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } })
  })

  it('takes over users who log in through its provider already', async () => {
    const user = await insertUser(service)
    await service.collections.users.updateOne(
      { _id: user.userId },
      { $set: { provider: 'social', subject: 'https://login.example.com|ada' } },
    )
    const found = await scim().get(`/Users?filter=${encodeURIComponent(`userName eq "${user.email}"`)}`)
    expect(found).toMatchObject({ totalResults: 1, Resources: [{ id: user.userId, active: true }] })
  })

  it.each([
    ['Entra ID', patchOf({ op: 'Replace', path: 'active', value: 'False' })],
    ['Okta', patchOf({ op: 'replace', value: { active: false } })],
  ])('puts a user out at once, as %s says it, and lets him in again', async (_system, operations) => {
    const { id } = await newUser()
    const projectId = crypto.randomUUID()
    const own = apiClient(service.url, await tokenOf(service, id, projectId))
    await service.collections.projects.create({
      _id: projectId,
      user_id: id,
      name: 'main',
      description: '',
      created_at: new Date(),
      updated_at: new Date(),
    })
    const { assistant_id: assistantId } = await own.post('/assistants/', { name: 'A' })
    const input = [{ type: 'human', content: 'Hi' }]
    const schedule = await own.post('/schedules/', { assistant_id: assistantId, input, cron: '0 7 1 1 *' })
    const gate = Promise.withResolvers<void>()
    const { arrived } = service.model.reply({ text: ['A long ', gate.promise, 'answer.'] })
    const { thread_id: threadId } = await own.post('/threads/', { assistant_id: assistantId })
    const run = await own.post('/runs/', { thread_id: threadId, input })
    await arrived
    expect(await scim().send('PATCH', `/Users/${id}`, operations)).toMatchObject({
      status: 200,
      body: { active: false },
    })
    gate.resolve()
    expect(await own.call('GET', '/auth/me')).toMatchObject({ status: 403 })
    const { collections } = service
    expect(await collections.runs.findOne({ _id: run.run_id }).lean()).toMatchObject({ status: 'cancelled' })
    expect(await collections.schedules.findById(schedule.schedule_id).lean()).toMatchObject({ paused: true })
    expect(await collections.assistants.findById(assistantId).lean()).toMatchObject({ suspended: true })
    expect((await collections.users.findById(id).lean())?.deactivating).toBeUndefined()
    const back = patchOf({ op: 'replace', path: 'active', value: true })
    expect(await scim().send('PATCH', `/Users/${id}`, back)).toMatchObject({ status: 200, body: { active: true } })
    expect((await own.get(`/assistants/${assistantId}`)).name).toBe('A')
  })

  it('keeps closed what nobody else uses yet, also when an operator lifts a suspension', async () => {
    const { id } = await newUser()
    const projectId = crypto.randomUUID()
    const now = new Date()
    const invited = {
      id: 'invited',
      role: 'owner' as const,
      email: newEmail(),
      invitation: { send: 1, sent_at: now, expires_at: new Date(now.getTime() + 3600_000) },
      created_at: now,
    }
    await service.collections.projects.create({
      _id: projectId,
      user_id: id,
      members: [invited],
      name: 'main',
      description: '',
      created_at: now,
      updated_at: now,
    })
    const own = apiClient(service.url, await tokenOf(service, id, projectId))
    const { assistant_id: assistantId } = await own.post('/assistants/', { name: 'A' })
    const isClosed = async () => (await service.collections.assistants.findById(assistantId).lean())?.suspended === true
    await scim().send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: false }))
    expect(await isClosed()).toBe(true)
    const operator = apiClient(service.url, service.env['ADMIN_TOKEN'])
    await operator.post(`/admin/users/${id}/suspend`, { reason: 'Spam' })
    await operator.post(`/admin/users/${id}/restore`)
    expect(await isClosed()).toBe(true)
    await scim().send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: true }))
    expect(await isClosed()).toBe(false)
  })

  it('leaves a shared project of a user who is put out to the others', async () => {
    const { id } = await newUser()
    const projectId = crypto.randomUUID()
    const guest = await insertUser(service)
    const member = { id: 'guest', user_id: guest.userId, role: 'editor' as const, email: '', created_at: new Date() }
    await service.collections.projects.create({
      _id: projectId,
      user_id: id,
      members: [member],
      name: 'main',
      description: '',
      created_at: new Date(),
      updated_at: new Date(),
    })
    const own = apiClient(service.url, await tokenOf(service, id, projectId))
    const { assistant_id: made } = await own.post('/assistants/', { name: 'Of the team' })
    expect(await scim().call('DELETE', `/Users/${id}`)).toMatchObject({ status: 204 })
    expect(await scim().call('GET', `/Users/${id}`)).toMatchObject({ status: 404 })
    expect(await own.call('GET', '/assistants/')).toMatchObject({ status: 403 })
    const there = apiClient(service.url, await tokenOf(service, guest.userId, projectId))
    expect((await there.get(`/assistants/${made}`)).name).toBe('Of the team')
    expect(await there.call('POST', '/assistants/', { name: 'B' })).toMatchObject({ status: 200 })
  })

  it('changes users as Entra ID and Okta write it', async () => {
    const user = await newUser()
    const changed = await scim().send(
      'PATCH',
      `/Users/${user.id}`,
      patchOf(
        { op: 'Add', path: 'name.givenName', value: 'Augusta' },
        { op: 'replace', value: { 'name.familyName': 'King', displayName: 'Augusta King' } },
        { op: 'replace', path: 'emails[type eq "work"].value', value: `new-${user.email}` },
        { op: 'add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'R&D' },
        { op: 'remove', path: 'externalId' },
      ),
    )
    expect(changed).toMatchObject({
      status: 200,
      body: {
        name: { givenName: 'Augusta', familyName: 'King' },
        displayName: 'Augusta King',
        emails: [{ value: `new-${user.email}`, type: 'work', primary: true }],
      },
    })
    expect((await service.collections.users.findById(user.id).lean())?.email).toBe(`new-${user.email}`)
    const unknown = patchOf({ op: 'add', path: 'shoeSize', value: 1 })
    expect(await scim().send('PATCH', `/Users/${user.id}`, unknown)).toMatchObject({
      status: 400,
      body: { scimType: 'invalidPath' },
    })
  })

  it('shows the attributes and the parts of attributes that are asked for', async () => {
    const user = await newUser()
    const path = `/Users/${user.id}`
    const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User']
    expect(await scim().get(`${path}?attributes=name.givenName,userName`)).toEqual({
      schemas,
      id: user.id,
      userName: user.email,
      name: { givenName: 'Ada' },
    })
    const without = await scim().get(`${path}?excludedAttributes=${schemas[0]}:NAME.familyName,emails.type,meta`)
    expect(without).toMatchObject({ name: { givenName: 'Ada' }, emails: [{ value: user.email, primary: true }] })
    expect(without).not.toHaveProperty('name.familyName')
    expect(without.emails[0]).not.toHaveProperty('type')
    expect(without).not.toHaveProperty('meta')
    const rename = patchOf({ op: 'replace', path: 'displayName', value: 'A' })
    const changed = await scim().send('PATCH', `${path}?attributes=displayName`, rename)
    expect(changed.body).toEqual({ schemas, id: user.id, displayName: 'A' })
  })

  it('tells the names of members to those who ask for them', async () => {
    const user = await newUser()
    const members = [{ value: user.id, type: 'User', $ref: `${service.url}/scim/v2/Users/${user.id}` }]
    const { body: group } = await scim().send('POST', '/Groups', { displayName: newEmail(), members })
    expect(group.members.map(({ value, type }: typeof group) => ({ value, type }))).toEqual([
      { value: user.id, type: 'User' },
    ])
    expect(group.members[0]).not.toHaveProperty('display')
    const asked = await scim().get(`/Groups/${group.id}?attributes=members.value,members.display`)
    expect(asked.members).toEqual([{ value: user.id, display: user.email }])
  })

  it('searches by a body, also among users and groups at once', async () => {
    const user = await newUser({ displayName: 'Searched' })
    const { body: group } = await scim().send('POST', '/Groups', { displayName: user.email })
    const search = async (path: string, body: object) => (await scim().send('POST', `${path}/.search`, body)).body
    const filter = `userName eq "${user.email}" or displayName eq "${user.email}"`
    const both = await search('', { filter, attributes: ['displayName'], count: 10 })
    expect(both).toMatchObject({
      totalResults: 2,
      Resources: [
        { id: user.id, displayName: 'Searched' },
        { id: group.id, displayName: user.email },
      ],
    })
    expect(both.Resources[0]).not.toHaveProperty('userName')
    for (const [startIndex, id] of [user.id, group.id].entries())
      expect(await search('', { filter, startIndex: startIndex + 1, count: 1 })).toMatchObject({
        totalResults: 2,
        Resources: [{ id }],
      })
    const ofType = await search('', { filter: `(${filter}) and meta.resourceType eq "Group"` })
    expect(ofType).toMatchObject({ totalResults: 1, Resources: [{ id: group.id }] })
    expect(await search('/Users', { filter: `userName eq "${user.email}"` })).toMatchObject({ totalResults: 1 })
    expect(await search('/Groups', { filter: `displayName eq "${user.email}"` })).toMatchObject({ totalResults: 1 })
    expect(await search('/Groups', { filter: 'userName pr' })).toMatchObject({ scimType: 'invalidFilter' })
    expect(await search('', { filter: 'shoeSize pr' })).toMatchObject({ scimType: 'invalidFilter' })
    expect(await search('', { attributes: 'userName' })).toMatchObject({ status: '400' })
  })

  it('lets nobody in again because it is not said whether he may', async () => {
    const { id, email: userName } = await newUser({ active: false })
    for (const operation of [{ op: 'remove' }, { op: 'replace', value: null }])
      expect(await scim().send('PATCH', `/Users/${id}`, patchOf({ ...operation, path: 'active' }))).toMatchObject({
        status: 400,
        body: { scimType: 'mutability' },
      })
    expect(await scim().send('PUT', `/Users/${id}`, { userName })).toMatchObject({ body: { active: false } })
    expect(await scim().send('PUT', `/Users/${id}`, { userName, active: true })).toMatchObject({
      body: { active: true },
    })
  })

  it('keeps groups, whose members use the projects of the group until they are out', async () => {
    const [ada, ben] = [await newUser(), await newUser()]
    const displayName = `Staff ${newEmail()}`
    const { body: group } = await scim().send('POST', '/Groups', { displayName, members: [{ value: ada.id }] })
    expect(group).toMatchObject({ displayName, members: [{ value: ada.id }] })
    expect(await scim().send('POST', '/Groups', { displayName })).toMatchObject({ status: 409 })
    await apiClient(service.url, service.env['ADMIN_TOKEN']).patch(`/admin/groups/${group.id}`, { listed: true })
    const owner = await insertUser(service)
    await owner.post(`/projects/${owner.projectId}/members`, { group: group.id, role: 'viewer' })
    const there = async (id: string) => {
      const client = apiClient(service.url, await tokenOf(service, id, owner.projectId))
      return (await client.call('GET', '/assistants/')).status
    }
    expect([await there(ada.id), await there(ben.id)]).toEqual([200, 403])
    const path = `/Groups/${group.id}`
    await scim().send('PATCH', path, patchOf({ op: 'Add', path: 'members', value: [{ value: ben.id }] }))
    expect([await there(ada.id), await there(ben.id)]).toEqual([200, 200])
    await scim().send('PATCH', path, patchOf({ op: 'remove', path: `members[value eq "${ada.id}"]` }))
    expect([await there(ada.id), await there(ben.id)]).toEqual([403, 200])
    await scim().send('PATCH', path, patchOf({ op: 'Remove', path: 'members', value: [{ value: ben.id }] }))
    expect(await there(ben.id)).toBe(403)
    await scim().send('PUT', path, { displayName, members: [{ value: ada.id }, { value: ben.id }] })
    expect((await scim().get(`/Users/${ben.id}`)).groups).toMatchObject([{ value: group.id, display: displayName }])
    const filter = encodeURIComponent(`displayName eq "${displayName}"`)
    const [found] = (await scim().get(`/Groups?excludedAttributes=members&filter=${filter}`)).Resources
    expect(found).toMatchObject({ id: group.id })
    expect(found).not.toHaveProperty('members')
    expect(await scim().call('DELETE', path)).toMatchObject({ status: 204 })
    expect([await there(ada.id), await there(ben.id)]).toEqual([403, 403])
    expect((await owner.get(`/projects/${owner.projectId}/members`)).members).toHaveLength(1)
  })
})
