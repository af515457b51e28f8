import test from 'ava'
import { evolve, serving, switchMaintenance } from '../../command-api/maintenance/decide.ts'
import type { MaintenanceEvent } from '../../events/maintenance.ts'

const on = (message: string): MaintenanceEvent => ({
  type: 'admin.maintenance_on',
  data: { message },
})
const off: MaintenanceEvent = { type: 'admin.maintenance_off', data: {} }
const after = (...events: MaintenanceEvent[]) => events.reduce(evolve, serving)

test('it is switched on with a message, off, and on again', t => {
  t.deepEqual(switchMaintenance(after(), { enabled: true, message: 'disks' }), [on('disks')])
  t.deepEqual(switchMaintenance(after(on('disks')), { enabled: false, message: '' }), [off])
  t.deepEqual(switchMaintenance(after(on('disks'), off), { enabled: true, message: 'disks' }), [
    on('disks'),
  ])
})

test('another message while it is on is told anew', t => {
  t.deepEqual(switchMaintenance(after(on('disks')), { enabled: true, message: 'network' }), [
    on('network'),
  ])
})

test('what is so already changes nothing', t => {
  t.deepEqual(switchMaintenance(after(), { enabled: false, message: 'x' }), [])
  t.deepEqual(switchMaintenance(after(on('disks')), { enabled: true, message: 'disks' }), [])
})
