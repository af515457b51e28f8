import test from 'ava'
import { readConfig } from '../../../server/settings/config.ts'
import { configFaults } from '../../servers/config-faults.ts'

const at = (SERVICE_BASE_URL: string) => ({ SERVICE_BASE_URL })

test('the base address is that of a host, whose slash is removed', t => {
  t.is(readConfig({}).baseUrl, null)
  t.is(readConfig(at('')).baseUrl, null)
  for (const given of ['https://forge.example', 'https://forge.example/'])
    t.is(readConfig(at(given)).baseUrl, 'https://forge.example')
  t.is(readConfig(at('http://127.0.0.1:8080')).baseUrl, 'http://127.0.0.1:8080')
})

test('a base address with a path, under which no link would work, is refused with the reason', t => {
  for (const given of ['https://a.example/forge', 'https://a.example/?x=1', 'https://me@a.example'])
    t.deepEqual(configFaults(at(given)), [
      'SERVICE_BASE_URL: Forge is served at the root of a host, as https://a.example, not under a path; give it a host name',
    ])
  for (const given of ['forge.example', 'ftp://forge.example', 'https://'])
    t.regex(configFaults(at(given)).join(), /expected an address such as https:/)
})
