export function Page() {
  return <h1>Notifications</h1>
}
