import Download from 'lucide-react/icons/download'
import Ellipsis from 'lucide-react/icons/ellipsis'
import Trash from 'lucide-react/icons/trash-2'
import { useState } from 'react'
import { Ask } from '../ask.tsx'
import { Button, IconButton } from '../button.tsx'
import { Dialog } from '../dialog.tsx'
import { Checkbox, Select, TextArea, TextField } from '../field.tsx'
import { FormEnd } from '../form-end.tsx'
import { Icon } from '../icon.tsx'
import { Menu, MenuItem } from '../menu.tsx'
import { Star } from '../star.tsx'
import { Written } from '../written.tsx'
import styles from './page.module.css'

/** What can be pressed and filled in. */
export const Controls = () => (
  <div className={styles.stack}>
    <h3>Buttons: three levels, each also dangerous, busy and impossible</h3>
    {(['main', 'plain', 'quiet'] as const).map(kind => (
      <div key={kind} className={styles.row}>
        <Button kind={kind}>{kind}</Button>
        <Button kind={kind} icon={Download}>
          with an icon
        </Button>
        <Button kind={kind} isDangerous icon={Trash}>
          dangerous
        </Button>
        <Button kind={kind} busy>
          busy
        </Button>
        <Button kind={kind} unless="The reason, on hover and on focus">
          impossible
        </Button>
        <IconButton kind={kind} icon={Download} name={`Download (${kind})`} />
      </div>
    ))}
    <Others />
    <h3>Fields</h3>
    <Fields />
    <h3>Text that people write together</h3>
    <WrittenText />
    <h3>Dialogs</h3>
    <Dialogs />
  </div>
)

function Others() {
  const [isOn, setOn] = useState(true)
  return (
    <div className={styles.row}>
      <Menu label="More actions" shown={<Icon of={Ellipsis} />}>
        <MenuItem onSelect={() => {}}>Archive</MenuItem>
        <MenuItem isDangerous onSelect={() => {}}>
          Delete
        </MenuItem>
      </Menu>
      <Star isOn={isOn} label="Star vision-1" onToggle={() => setOn(!isOn)} />
      <Star isOn={!isOn} label="Star vision-2" onToggle={() => setOn(!isOn)} />
    </div>
  )
}

const Fields = () => (
  <div className={styles.stack}>
    <TextField label="Name" placeholder="resnet-50" hint="Shown in lists instead of the id." />
    <TextField label="Learning rate" defaultValue="fast" fault="It must be a number." />
    <Select
      label="Series"
      value="h100"
      choices={[
        { value: 'h100', text: 'H100' },
        { value: 'a100', text: 'A100' },
      ]}
      onChange={() => {}}
    />
    <TextArea label="Notes" rows={3} hint="Markdown" />
    <Checkbox label="Unread only" />
  </div>
)

function WrittenText() {
  const [text, setText] = useState('Diverges after a **warm restart**.')
  return (
    <Written
      title="Findings"
      text={text}
      canEdit
      add="Add findings"
      hint="Markdown. Ctrl Enter saves."
      maxLength={1_000}
      read={async () => text}
      save={async next => setText(next)}
    />
  )
}

function Dialogs() {
  const [open, setOpen] = useState<'form' | 'ask' | 'wide' | 'side' | null>(null)
  const close = () => setOpen(null)
  return (
    <div className={styles.row}>
      <Button onClick={() => setOpen('form')}>Open a form</Button>
      <Button onClick={() => setOpen('ask')}>Open a question</Button>
      <Button onClick={() => setOpen('wide')}>Open a wide dialog</Button>
      <Button onClick={() => setOpen('side')}>Open a drawer</Button>
      {open === 'form' && (
        <Dialog title="Tags of vision-16" onClose={close}>
          <form className={styles.stack}>
            <TextField label="Tags" autoFocus />
            <FormEnd error={null} text="Save" onCancel={close} />
          </form>
        </Dialog>
      )}
      {open === 'ask' && (
        <Ask title="Stop vision-16" text="Stop" isDangerous onYes={close} onClose={close}>
          <p>The code is asked to end, and may write a last checkpoint.</p>
        </Ask>
      )}
      {(open === 'wide' || open === 'side') && (
        <Dialog title={`History of ${open}`} shape={open} onClose={close}>
          <p>Content</p>
        </Dialog>
      )}
    </div>
  )
}
