import test from 'ava'
import { oidcOf } from '../../auth/oidc-settings.ts'
import { redacted } from '../../platform/settings.ts'
import { readConfig } from '../../server/settings/config.ts'
import { configFaults } from '../servers/config-faults.ts'

const provider = {
  SERVICE_OIDC_ISSUER: 'https://id.example.org/realms/forge',
  SERVICE_OIDC_CLIENT_ID: 'forge',
  SERVICE_OIDC_CLIENT_SECRET: 'not for the log',
}

test('three settings make a provider; its name is the host, its claim groups, its secret not shown', t => {
  const config = readConfig(provider)
  t.deepEqual(oidcOf(config), {
    issuer: 'https://id.example.org/realms/forge',
    clientId: 'forge',
    clientSecret: 'not for the log',
    name: 'id.example.org',
    adminGroup: null,
    groupsClaim: 'groups',
    sessionHours: 24,
  })
  t.is(redacted(config).oidcClientSecret, '[set]')
  t.notRegex(JSON.stringify(redacted(config)), /not for the log/)
  t.is(oidcOf(readConfig({})), null)
})

test('an incomplete set of settings is a fault that names the missing ones', t => {
  t.deepEqual(configFaults({ ...provider, SERVICE_OIDC_CLIENT_SECRET: '' }), [
    'SERVICE_OIDC_CLIENT_SECRET: missing, though SERVICE_OIDC_ISSUER, SERVICE_OIDC_CLIENT_ID is set',
  ])
  t.is(configFaults({ SERVICE_OIDC_ADMIN_GROUP: 'admins' }).length, 3)
})

for (const [issuer, isTaken] of [
  ['https://id.example.org', true],
  ['http://127.0.0.1:9000', true],
  ['http://localhost:9000/realms/x', true],
  ['http://[::1]:9000', true],
  ['http://id.example.org', false],
  ['http://localhost.example.org', false],
  ['http://127.0.0.1.example.org', false],
  ['https://id.example.org?x=1', false],
  ['https://id.example.org#x', false],
  ['ftp://localhost', false],
  ['id.example.org', false],
] as const)
  test(`the issuer ${issuer} is ${isTaken ? 'taken' : 'refused'}`, t => {
    t.is(configFaults({ ...provider, SERVICE_OIDC_ISSUER: issuer }).length, isTaken ? 0 : 1)
  })
