import test from 'ava'
import { switchMaintenance } from '../../command-api/maintenance/decide.ts'
import { type MaintenanceEvent, maintenance } from '../../events/maintenance.ts'
import { folded } from '../folded.ts'

const on = (message: string): MaintenanceEvent => ({
  type: 'admin.maintenance_on',
  data: { message },
})
const off: MaintenanceEvent = { type: 'admin.maintenance_off', data: {} }
const after = (...events: MaintenanceEvent[]) => folded(maintenance, events)

test('maintenance is switched on with a message, off, and on again', t => {
  t.deepEqual(switchMaintenance(after(), { enabled: true, message: 'disks' }), [on('disks')])
  t.deepEqual(switchMaintenance(after(on('disks')), { enabled: false, message: '' }), [off])
  t.deepEqual(switchMaintenance(after(on('disks'), off), { enabled: true, message: 'disks' }), [
    on('disks'),
  ])
})

test('changing the message during maintenance appends an event', t => {
  t.deepEqual(switchMaintenance(after(on('disks')), { enabled: true, message: 'network' }), [
    on('network'),
  ])
})

test('repeating a command appends no event', t => {
  t.deepEqual(switchMaintenance(after(), { enabled: false, message: 'x' }), [])
  t.deepEqual(switchMaintenance(after(on('disks')), { enabled: true, message: 'disks' }), [])
})
