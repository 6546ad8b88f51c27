"""The panel: web pages for dealer, floorperson and technician, and the meter sign. The web server is imported late."""
