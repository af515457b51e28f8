import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Profile } from '../../../../../schemas/profiles.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Checkbox, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const fresh: Profile = {
  name: '',
  series: 'H100',
  gpus_per_node: 8,
  max_nodes: 1,
  cpus: null,
  memory_gb: null,
  executor: 'local',
  container: false,
  available: true,
  price_per_gpu_hour: '0',
}

export function Section() {
  const say = useWords(words)
  const profiles = useQuery(reading<Profile[]>('/api/profiles'))
  const [edited, setEdited] = useState<Profile | null>(null)
  return (
    <Panel
      title={say.profiles}
      actions={<Button onClick={() => setEdited(fresh)}>{say.newProfile}</Button>}
    >
      <QueryTable
        of={profiles}
        caption={say.profiles}
        keyOf={({ name }) => name}
        columns={[
          { key: 'name', title: say.name, cell: one => one.name },
          {
            key: 'gpus',
            title: say.gpus,
            cell: one => `${one.max_nodes} × ${one.gpus_per_node} ${one.series}`,
          },
          { key: 'executor', title: say.executor, cell: one => one.executor },
          {
            key: 'price',
            title: say.price,
            isNumber: true,
            cell: one => one.price_per_gpu_hour,
          },
          {
            key: 'available',
            title: say.available,
            cell: one => (one.available ? say.yes : say.no),
          },
          {
            key: 'edit',
            title: '',
            cell: one => (
              <Button kind="quiet" onClick={() => setEdited(one)}>
                {say.edit}
              </Button>
            ),
          },
        ]}
      />
      {edited && <Editor profile={edited} onClose={() => setEdited(null)} />}
    </Panel>
  )
}

const numbers = ['gpus_per_node', 'max_nodes', 'cpus', 'memory_gb'] as const

function Editor({ profile, onClose }: { profile: Profile; onClose: () => void }) {
  const say = useWords(words)
  const { send, error, isBusy } = useChange('/api/profiles')
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const enteredTextOf = (name: string) => String(given.get(name) ?? '').trim()
    const name = profile.name || enteredTextOf('name')
    const saved = await send('PUT', `/api/admin/profiles/${encodeURIComponent(name)}`, {
      series: enteredTextOf('series'),
      executor: enteredTextOf('executor'),
      price_per_gpu_hour: enteredTextOf('price_per_gpu_hour'),
      container: given.has('container'),
      available: given.has('available'),
      ...Object.fromEntries(
        numbers.map(key => [key, enteredTextOf(key) === '' ? null : Number(enteredTextOf(key))]),
      ),
    })
    if (saved) onClose()
  }
  return (
    <Dialog title={profile.name || say.newProfile} onClose={onClose}>
      <form className={styles.form} onSubmit={event => void submit(event)}>
        {profile.name === '' && <TextField label={say.name} name="name" required />}
        <TextField label={say.series} name="series" defaultValue={profile.series} required />
        {numbers.map(key => (
          <TextField
            key={key}
            label={say[key]}
            name={key}
            type="number"
            min={0}
            step="any"
            defaultValue={profile[key] ?? ''}
            required={key === 'gpus_per_node' || key === 'max_nodes'}
          />
        ))}
        <TextField label={say.executor} name="executor" defaultValue={profile.executor} required />
        <TextField
          label={say.price}
          name="price_per_gpu_hour"
          defaultValue={profile.price_per_gpu_hour}
          required
        />
        <Checkbox label={say.container} name="container" defaultChecked={profile.container} />
        <Checkbox label={say.available} name="available" defaultChecked={profile.available} />
        <FormEnd error={error} isBusy={isBusy} text={say.save} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
