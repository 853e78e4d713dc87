export function Messages() {
  return (
    <>
      <title>Messages · Covenant</title>
      <h1>Messages</h1>
    </>
  );
}
