import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { Field } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const path = '/api/admin/image-registries'

/** Allowed prefixes for the images of jobs, one a line. */
export function Section() {
  const say = useWords(words)
  const found = useQuery(reading<{ registries: string[] }>(path))
  const { send, error, isBusy } = useChange(path)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get('registries'))
    const registries = text.split('\n').map(line => line.trim())
    void send('PUT', path, { registries: registries.filter(Boolean) })
  }
  return (
    <Panel title={say.registries}>
      <Shown of={found}>
        {({ registries }) => (
          <form className={styles.form} key={registries.join()} onSubmit={submit}>
            <Field label={say.registriesHelp}>
              {given => (
                <textarea
                  {...given}
                  name="registries"
                  rows={8}
                  className={styles.area}
                  defaultValue={registries.join('\n')}
                  placeholder="ghcr.io/forge"
                />
              )}
            </Field>
            <FormEnd error={error} isBusy={isBusy} text={say.save} />
          </form>
        )}
      </Shown>
    </Panel>
  )
}
