import test from 'ava'
import { switchMaintenance } from '../../command-api/maintenance/decide.ts'
import { type MaintenanceEvent, maintenance } from '../../events/maintenance.ts'
import { maintenanceInput } from '../../schemas/maintenance.ts'
import { checker } from '../../schemas/validate.ts'
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

test('a missing or empty message means the default one', t => {
  const isInput = checker(maintenanceInput, 'body')
  for (const body of [{ enabled: true }, { enabled: true, message: '' }]) {
    const checked = isInput(body)
    if (!checked.ok) throw new Error(JSON.stringify(checked))
    t.deepEqual(switchMaintenance(after(), checked.value), [
      on('The server is under maintenance; try again later'),
    ])
  }
  t.true(isInput({ enabled: false }).ok)
  t.true(isInput({ enabled: false, message: '' }).ok)
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
