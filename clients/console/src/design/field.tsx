import { type InputHTMLAttributes, type ReactNode, type TextareaHTMLAttributes, useId } from 'react'
import styles from './field.module.css'

type Props = {
  label: string
  /** The fault in its value. */
  fault?: string | null
  hint?: ReactNode
  children: (given: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode
}

/** A label, its control, and its hint or error. */
export function Field({ label, fault, hint, children }: Props) {
  const id = useId()
  const says = fault || hint ? `${id}-says` : null
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(says && { 'aria-describedby': says }),
        ...(fault && { 'aria-invalid': true }),
      })}
      {says && (
        <p
          id={says}
          className={fault ? styles.fault : styles.hint}
          {...(fault && { role: 'alert' })}
        >
          {fault || hint}
        </p>
      )}
    </div>
  )
}

type TextProps = InputHTMLAttributes<HTMLInputElement> & {
  label: string
  fault?: string | null
  hint?: ReactNode
}

export const TextField = ({ label, fault, hint, ...rest }: TextProps) => (
  <Field label={label} {...(fault && { fault })} {...(hint && { hint })}>
    {given => <input {...given} {...rest} className={styles.input} />}
  </Field>
)

type AreaProps = TextareaHTMLAttributes<HTMLTextAreaElement> & {
  label: string
  fault?: string | null | false
  hint?: ReactNode
}

export const TextArea = ({ label, fault, hint, ...rest }: AreaProps) => (
  <Field label={label} {...(fault && { fault })} {...(hint && { hint })}>
    {given => <textarea {...given} {...rest} className={styles.input} />}
  </Field>
)

type CheckboxProps = InputHTMLAttributes<HTMLInputElement> & { label: string }

export const Checkbox = ({ label, ...rest }: CheckboxProps) => (
  <label className={styles.check}>
    <input type="checkbox" {...rest} /> {label}
  </label>
)

type Choice<T extends string> = { value: T; text: string }

export function Select<T extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string
  value: T
  choices: readonly Choice<T>[]
  onChange: (next: T) => void
}) {
  return (
    <Field label={label}>
      {given => (
        <select
          {...given}
          className={styles.input}
          value={value}
          onChange={event => onChange(event.target.value as T)}
        >
          {choices.map(choice => (
            <option key={choice.value} value={choice.value}>
              {choice.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
