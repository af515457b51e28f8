import test from 'ava'
import { addressAt } from '../../../../clients/cli/api/address.ts'

test('an address of the server is used at the host by which it is known here', t => {
  const root = 'https://forge.example/api/uploads/1?sig=a'
  const below = 'https://forge.example/forge/api/uploads/1?sig=a'
  t.is(addressAt('https://forge.example', root), root)
  t.is(addressAt('http://localhost:9000', root), 'http://localhost:9000/api/uploads/1?sig=a')
  t.is(addressAt('https://forge.example/forge', below), below)
  t.is(
    addressAt('http://localhost:9000', below),
    'http://localhost:9000/forge/api/uploads/1?sig=a',
    'a tunnel to the server itself, which accepts the path',
  )
  t.is(
    addressAt('https://ml.example/forge', root),
    'https://ml.example/forge/api/uploads/1?sig=a',
    'a proxy that removes the path',
  )
})
