import { notificationMark } from './notifications.ts'

/**
 * Elements of a page's header beside its title. Each creates its element and keeps it up to date by itself; the list
 * is written by hand.
 */
export const headerMarks: readonly (() => HTMLElement)[] = [notificationMark]
