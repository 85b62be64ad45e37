/** The words of the chat bubble; a page can set its title and greeting. */
export const texts = {
  title: 'Chat',
  greeting: 'Hello! How can I help?',
  open: 'Open the chat',
  close: 'Close the chat',
  messages: 'Messages',
  message: 'Message',
  placeholder: 'Write a message',
  send: 'Send',
  failed: 'This did not work. Please try again.',
}
