import { Tooltip } from 'radix-ui'
import type { ReactNode } from 'react'
import styles from './tip.module.css'

/** A short text on hover and on focus; `children` is what can be focused. */
export const Tip = ({ text, children }: { text: ReactNode; children: ReactNode }) => (
  <Tooltip.Root delayDuration={300}>
    <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
    <Tooltip.Portal>
      <Tooltip.Content className={styles.tip} sideOffset={4} collisionPadding={8}>
        {text}
      </Tooltip.Content>
    </Tooltip.Portal>
  </Tooltip.Root>
)
