"""How people and programs reach the box: credentials, sessions, requests, control socket, keypad."""
