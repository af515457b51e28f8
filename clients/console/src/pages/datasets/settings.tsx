import { useState } from 'react'
import { Dialog } from '../../design/dialog.tsx'
import { Select, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import layout from '../../design/layout.module.css'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import { type Detail, pathOf } from './paths.ts'
import { words } from './words.ts'

/** Who sees and uses a dataset, and its license. */
export function Settings({ dataset, onClose }: { dataset: Detail; onClose: () => void }) {
  const say = useWords(words)
  const [visibility, setVisibility] = useState(dataset.visibility)
  const [use, setUse] = useState(dataset.use)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const license = String(given.get('license')).trim() || null
    await request('PATCH', pathOf(dataset), { body: { visibility, use, license } })
    await reread('/api/datasets')
    onClose()
  })
  return (
    <Dialog title={say.settingsOf(dataset.dataset)} onClose={onClose}>
      <form className={layout.form} onSubmit={onSubmit}>
        <Select
          label={say.visibility}
          value={visibility}
          choices={(['private', 'public'] as const).map(value => ({ value, text: say[value] }))}
          onChange={setVisibility}
        />
        {visibility === 'public' && (
          <Select
            label={say.usableBy}
            value={use}
            choices={[
              { value: 'everybody', text: say.everybodyUses },
              { value: 'granted', text: say.grantedUse },
            ]}
            onChange={setUse}
          />
        )}
        <TextField
          label={say.license}
          name="license"
          maxLength={200}
          defaultValue={dataset.license ?? ''}
          placeholder="apache-2.0"
        />
        <FormEnd error={error} isBusy={isBusy} text={say.save} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
