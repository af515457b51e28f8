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

test('it may have a path, under which a proxy serves Forge', t => {
  for (const given of ['https://a.example/forge', 'https://a.example/forge/'])
    t.is(readConfig(at(given)).baseUrl, 'https://a.example/forge')
  t.is(readConfig(at('https://a.example/ml/forge-2')).baseUrl, 'https://a.example/ml/forge-2')
})

test('a base address with anything else is refused with the reason', t => {
  for (const given of [
    ...['https://a.example/?x=1', 'https://me@a.example', 'https://a.example/forge?x=1'],
    ...['https://a.example//forge', 'https://a.example/a"b', 'https://a.example/a%2fb'],
  ])
    t.deepEqual(configFaults(at(given)), [
      'SERVICE_BASE_URL: expected a host and perhaps a path of letters, digits and . _ ~ -, such as https://a.example/forge',
    ])
  for (const given of ['forge.example', 'ftp://forge.example', 'https://'])
    t.regex(configFaults(at(given)).join(), /expected an address such as https:/)
})

test('a base address with a path of Forge itself is refused, because addresses below it would be ambiguous', t => {
  for (const own of ['/api', '/assets', '/inference', '/healthz', '/runs', '/projects', '/device'])
    for (const path of [own, `${own}/forge`, `/ml${own}`])
      t.deepEqual(configFaults(at(`https://a.example${path}`)), [
        `SERVICE_BASE_URL: ${own} is a path of Forge's own; choose another`,
      ])
  t.is(readConfig(at('https://a.example/apis')).baseUrl, 'https://a.example/apis')
})
