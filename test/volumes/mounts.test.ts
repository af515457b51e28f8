import test from 'ava'
import type { Enclosure, Mount } from '../../executor/attempts/enclosure.ts'
import { bubblewrapArguments } from '../../executor/node/bubblewrap.ts'

const enclosureWith = (...mounts: Mount[]): Enclosure => ({
  ...{ mode: 'bubblewrap', python: '/usr/bin/python3', identity: null, system: ['/usr'] },
  ...{ hidden: [], readable: [], writable: ['/srv/forge/runs/r/1/work'], devices: [] },
  ...{ tmp: '/srv/forge/runs/r/1/tmp', mounts },
})
const at = (mount_path: string, read_only = false): Mount => ({
  ...{ path: '/srv/forge/volumes/v', mount_path, read_only },
})

test('a run sees its volumes where it mounts them, read-only or not', t => {
  const given = bubblewrapArguments(enclosureWith(at('/cache'), at('/data/base', true))).join(' ')
  t.true(given.includes('--bind /srv/forge/volumes/v /cache'))
  t.true(given.includes('--ro-bind /srv/forge/volumes/v /data/base'))
})

test('no volume covers what the run needs, and nothing is made inside a volume', t => {
  for (const mount_path of ['/srv', '/srv/forge/runs/r/1/work/data', '/usr/share/x', '/tmp/x'])
    t.throws(() => bubblewrapArguments(enclosureWith(at(mount_path))), {
      message: new RegExp(`^no volume can be mounted at ${mount_path}, because`),
    })
  t.throws(() => bubblewrapArguments(enclosureWith(at('/a'), at('/a/b'))), {
    message: /at \/a\/b, because the run also needs \/a$/,
  })
})
