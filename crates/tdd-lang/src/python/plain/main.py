__import__("@NAME@p").start()
