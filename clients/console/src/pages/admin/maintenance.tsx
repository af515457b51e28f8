import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import type { Static } from 'typebox'
import type { maintenance } from '../../../../../schemas/maintenance.ts'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { Failure, Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const path = '/api/admin/maintenance'

export function Section() {
  const say = useWords(words)
  const found = useQuery(reading<Static<typeof maintenance>>(path))
  const { send, error, isBusy } = useChange(path)
  return (
    <Panel title={say.maintenance}>
      <p>{say.maintenanceHelp}</p>
      <Shown of={found}>
        {({ enabled, message, changed_at, changed_by }) => {
          const submit = (event: FormEvent<HTMLFormElement>) => {
            event.preventDefault()
            const given = new FormData(event.currentTarget)
            void send('PUT', path, { enabled: !enabled, message: String(given.get('message')) })
          }
          return (
            <form className={styles.form} onSubmit={submit}>
              <p role="status">{enabled ? say.isOn : say.isOff}</p>
              {changed_at !== null && (
                <p className={styles.soft}>
                  <Ago at={changed_at} /> · {changed_by}
                </p>
              )}
              <TextField
                label={say.message}
                name="message"
                maxLength={2000}
                defaultValue={message ?? ''}
              />
              <Failure error={error} />
              <Button
                type="submit"
                kind={enabled ? 'main' : 'plain'}
                isDangerous={!enabled}
                busy={isBusy}
              >
                {enabled ? say.switchOff : say.switchOn}
              </Button>
            </form>
          )
        }}
      </Shown>
    </Panel>
  )
}
